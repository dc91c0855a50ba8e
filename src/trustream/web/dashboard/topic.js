// The page of one topic: words, share over time, what changed in it, and its documents.

import { wordBars } from "../bars.js";
import { topicCard } from "../card.js";
import { documentList } from "../documents.js";
import { element } from "../dom.js";
import { count, percent } from "../numbers.js";
import { timeline } from "../timeline.js";
import { ask } from "./api.js";
import { moment } from "./figures.js";
import { documentAddress, following, panel, topicAddress, withoutTopics } from "./panel.js";

const MORE = 15;

export function topicView(live, id, { title }) {
  const wanted = Number(id);
  const card = topicCard({ onSelect: (topic) => (location.hash = topicAddress(topic)), level: 1 });
  const bars = wordBars();
  const documents = documentList({ address: documentAddress });
  const over = timeline();
  const overTime = panel("Over time", "of-time", over.element);
  const changed = element("p", { class: "since" });
  const more = element("button", { type: "button", class: "more", hidden: true, onclick: () => load(limit + MORE) }, "Show more");
  const note = element("p", { role: "status", class: "note" });
  const about = element("p", { class: "note" });
  const parts = element(
    "div",
    { class: "panels" },
    element("section", { class: "panel of-topic", "aria-labelledby": "chosen-topic" }, card.element, changed, bars.element),
    element("div", { class: "stack" }, overTime, panel("Documents that are most about it", "of-documents", documents.element, more, about)),
  );
  const nothing = element("h1", { tabindex: -1 }, `Topic ${wanted}`);
  const node = element("div", {}, element("p", { class: "way" }, element("a", { href: "#/" }, "All topics")), note);
  let limit = 5;
  let left = false;
  let shown = null;

  function show() {
    const data = live.report;
    const topic = data?.topics.find((found) => found.topic === wanted) ?? null;
    if (topic === null) {
      note.textContent = data === null ? withoutTopics(live) : `There is no topic ${wanted} in the model${shown ? " any more" : ""}.`;
      if (!parts.isConnected) node.append(nothing);
      return;
    }
    if (data === shown) return;
    note.textContent = "";
    nothing.remove();
    if (!parts.isConnected) node.append(parts);
    const first = shown === null;
    shown = data;
    card.update(data, topic);
    bars.update(data, topic);
    overTime.hidden = !(data.time && data.time.edges.length > 2);
    if (!overTime.hidden) over.update(data, topic);
    title(topic.label);
    if (first) documents.update(data, topic);
    load(limit);
    if (first) loadChanges(topic);
  }

  // The report has a few documents; more, and excerpts of them, are asked for.
  async function load(n) {
    try {
      const found = await ask(`topics/${wanted}/documents`, { query: { limit: n } });
      if (left || node.querySelector(".documents")?.matches(":focus-within") === true) return;
      limit = n;
      documents.update(null, { documents: found.items });
      more.hidden = found.items.length >= found.total;
      about.textContent = `${count(found.items.length)} of ${count(found.total)}${found.is_sample ? ", from a sample of the documents" : ""}.`;
    } catch {
      // The connection says what is wrong; the next report asks again.
    }
  }

  async function loadChanges(topic) {
    try {
      const found = await ask("changes");
      const change = found.topics.find((one) => one.topic === wanted);
      if (found.since === null || left) return;
      const parts = [`Since ${moment(found.since)}: `];
      if (!change || change.change === "steady") parts.push(`about ${percent(topic.share)} all the time`);
      else if (change.change === "appeared") parts.push("it appeared");
      else parts.push(`${change.change} from ${percent(change.before)} to ${percent(change.after)}`);
      if (change?.words_in.length) parts.push(`; words that came: ${change.words_in.join(", ")}`);
      if (change?.words_out.length) parts.push(`; that went: ${change.words_out.join(", ")}`);
      changed.textContent = `${parts.join("")}.`;
    } catch {
      changed.textContent = "";
    }
  }

  const leave = following(live, ["report", "model"], show);
  show();
  const label = shown?.topics.find((found) => found.topic === wanted)?.label ?? `Topic ${wanted}`;
  return {
    title: label,
    element: node,
    leave() {
      left = true;
      leave();
    },
  };
}
