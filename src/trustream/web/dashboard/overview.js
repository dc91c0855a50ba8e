// The first view: what arrives, how good the model is, what changed, and all topics.

import { element } from "../dom.js";
import { count } from "../numbers.js";
import { arrivalList } from "./arrivals.js";
import { topicCards } from "./cards.js";
import { changeSummary } from "./changes.js";
import { moment, nats, perplexity, retentionText } from "./figures.js";
import { lineChart } from "./line.js";
import { following, heading, paced, panel } from "./panel.js";
import { figureTiles } from "./tiles.js";

const RANGES = [["the last hour", 3600], ["the last day", 86400], ["the last week", 7 * 86400], ["all that is kept", null]];

// Stays from one visit to the next.
let seconds = 86400;

export function overviewView(live) {
  const tiles = figureTiles(live);
  const arrivals = arrivalList(live);
  const cards = topicCards(live);
  const summary = changeSummary(live);
  const documents = lineChart({
    label: "Documents in the store over time",
    write: (value) => (Number.isInteger(value) ? count(value) : ""),
    describe: (point) => `${moment(point.time)}: ${count(point.value)} documents`,
    none: "No history yet.",
  });
  const scores = lineChart({
    label: "Held-out score over time",
    write: (value, step) => value.toFixed(Math.max(2, Math.ceil(-Math.log10(step) - 1e-9))).replace("-", "−"),
    describe: (point) => `${moment(point.time)}: ${nats(point.value)} nats per word, perplexity ${perplexity(point.value)}`,
    none: "No score yet: a trainer scores held-out documents now and then.",
  });
  const range = element(
    "select",
    { id: "range", onchange: () => choose(range.value === "all" ? null : Number(range.value)) },
    ...RANGES.map(([name, value]) => element("option", { value: value ?? "all", selected: value === seconds }, name)),
  );
  const kept = element("p", { class: "note" }, "\u00a0");

  function choose(value) {
    seconds = value;
    live.loadHistory(value === null ? 0 : Date.now() / 1000 - value).catch(() => {});
  }

  function drawHistory() {
    if (live.history.retention === null && live.connection.state !== "cut") return;
    const start = seconds === null ? 0 : Date.now() / 1000 - seconds;
    const items = live.history.items.filter((point) => point.time >= start);
    const of = (name) => items.filter((point) => (point[name] ?? null) !== null).map((point) => ({ time: point.time, value: point[name] }));
    documents.update(of("documents"));
    scores.update(of("score"));
    kept.textContent = retentionText(live.history.retention);
  }

  const node = element(
    "div",
    {},
    element("div", { class: "view-head" }, heading("Overview"), element("label", { for: "range", class: "range" }, "Charts show ", range)),
    tiles.element,
    element(
      "div",
      { class: "panels" },
      panel("Documents over time", "", documents.element),
      panel("Held-out score over time", "", scores.element, element("p", { class: "note" }, "Higher is better: the mean log-probability of words of documents that the model has not learned from.")),
      panel("As they arrive", "of-arrivals", arrivals.element),
      panel("Since yesterday", "of-changes", summary.element),
    ),
    kept,
    cards.element,
  );
  const leaves = [
    following(live, ["totals", "model", "trainer"], paced(() => tiles.update(), 250)),
    following(live, ["totals"], () => arrivals.update()),
    following(live, ["totals"], paced(drawHistory, 1000)),
    following(live, ["history"], drawHistory),
    following(live, ["report"], () => cards.update()),
    arrivals.leave,
    summary.leave,
    cards.leave,
  ];
  tiles.update();
  arrivals.update();
  drawHistory();
  cards.update();
  return { title: "Overview", element: node, leave: () => leaves.forEach((leave) => leave()) };
}
