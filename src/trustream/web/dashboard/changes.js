// What changed since some time: the stream as a whole, and topic by topic.

import { element } from "../dom.js";
import { count, percent } from "../numbers.js";
import { ask } from "./api.js";
import { moment, nats, perplexity, points, retentionText, signed } from "./figures.js";
import { following, heading, paced, panel, topicAddress } from "./panel.js";

const RANGES = [["an hour ago", 3600], ["yesterday", 86400], ["a week ago", 7 * 86400], ["a month ago", 30 * 86400], ["a year ago", 365 * 86400]];
const SIGNS = { appeared: ["✦", "new"], gone: ["✕", "fading"], grown: ["▲", "rising"], shrunk: ["▼", "fading"], steady: ["", "steady"] };
const SUMMARY = 6;
const MOST = 200;
// Milliseconds after which what changed is asked for again while it is looked at.
const EVERY = 30000;

// Stays from one visit to the next.
let ago = 86400;

export function changesView(live) {
  const range = element(
    "select",
    { id: "since", onchange: () => ((ago = Number(range.value)), load()) },
    ...RANGES.map(([name, value]) => element("option", { value, selected: value === ago }, name)),
  );
  const said = element("p", { role: "status" }, "Loading…");
  const result = element("div", {});
  const node = element(
    "div",
    {},
    element("div", { class: "view-head" }, heading("What changed"), element("label", { for: "since", class: "range" }, "Since ", range)),
    said,
    result,
  );
  const leave = repeated(live, load);

  async function load() {
    const asked = ago;
    try {
      const found = await ask("changes", { query: { since: Date.now() / 1000 - asked } });
      if (asked !== ago) return;
      said.textContent = sentence(found, asked);
      result.replaceChildren(...(found.since === null ? [] : whole(found)), element("p", { class: "note" }, retentionText(found.retention)));
    } catch (error) {
      said.textContent = error.message;
    }
  }

  return { title: "What changed", element: node, leave };
}

// A short list for the overview, with element and leave().
export function changeSummary(live) {
  const said = element("p", {}, "\u00a0");
  const list = element("ul", { class: "changes-short" });
  const node = element("div", {}, said, list, element("p", {}, element("a", { href: "#/changes" }, "All that changed")));
  const leave = repeated(live, load);

  async function load() {
    try {
      const found = await ask("changes");
      said.textContent = found.since === null ? sentence(found, 86400) : `${sentence(found, 86400)} ${totals(found)}`;
      list.replaceChildren(...found.topics.slice(0, SUMMARY).map(short));
    } catch (error) {
      said.textContent = error.message;
    }
  }

  return { element: node, leave };
}

// Load now, and again with new reports, but not more often than it can be read. A report that comes
// soon after another is not passed over: it may be the last.
function repeated(live, load) {
  let left = false;
  const again = paced(() => left || load(), EVERY);
  load();
  const end = following(live, ["report"], again);
  return () => {
    left = true;
    end();
  };
}

function sentence(found, asked) {
  if (found.since === null) return "No history is kept yet: it begins when the service first runs, and is here from the second point on.";
  const late = found.since - (found.until - asked) > 0.02 * asked + 900;
  return `Compared with ${moment(found.since)}${late ? ", the oldest that is kept" : ""}.`;
}

function totals({ before, after }) {
  if (!before) return "";
  const parts = [`${signed(after.documents - before.documents)} documents`, `${signed(after.tokens - before.tokens)} tokens`];
  if (before.score !== null && after.score !== null) parts.push(`held-out score ${nats(before.score)} → ${nats(after.score)}`);
  return `${parts.join(", ")}.`;
}

function whole(found) {
  const { before, after } = found;
  const rows = [
    ["Documents", before?.documents, after.documents, count],
    ["Tokens", before?.tokens, after.tokens, count],
    ["Different words", before?.words, after.words, count],
    ["Topics", before?.n_topics, after.n_topics, count],
    ["Steps of the trainer", before?.n_steps, after.n_steps, count],
    ["Held-out score, nats per word", before?.score, after.score, nats],
    ["Perplexity", before?.score, after.score, perplexity],
  ];
  const head = (...names) => element("thead", {}, element("tr", {}, ...names.map(([name, kind]) => element("th", { scope: "col", class: kind ?? null }, name))));
  const figures = element(
    "table",
    { class: "plain" },
    head(["What"], ["Before", "figure"], ["Now", "figure"]),
    element("tbody", {}, ...rows.map(([name, was, is, write]) => element("tr", {}, element("th", { scope: "row" }, name), element("td", { class: "figure" }, write(was)), element("td", { class: "figure" }, write(is))))),
  );
  const topics = found.topics.slice(0, MOST);
  const table = element(
    "table",
    { class: "plain changes" },
    head(["Topic"], ["Change"], ["Share", "figure"], ["Words that came", "minor"], ["Words that went", "minor"]),
    element("tbody", {}, ...topics.map(row)),
  );
  const others = found.topics_since !== null && found.topics_since !== found.since;
  const compared = others ? element("p", { class: "note" }, `There was no model at first: topics are compared with ${moment(found.topics_since)}.`) : null;
  const began = found.topics_since === null && found.before?.n_topics === null && found.after.n_topics !== null;
  const none = element("p", { class: "note" }, began ? "There was no model to compare with then." : "No topic changed.");
  const more = found.topics.length > MOST ? element("p", { class: "note" }, `${count(found.topics.length - MOST)} smaller changes are left out.`) : null;
  return [
    element("div", { class: "panels" }, panel("The stream", "of-figures whole", figures), panel("Topics, the largest change first", "whole", compared, topics.length ? table : none, more)),
  ];
}

function badge(change) {
  const [sign, kind] = SIGNS[change] ?? ["", "steady"];
  return element("span", { class: `badge ${kind}` }, `${sign} ${change}`.trim());
}

function name(found) {
  return found.change === "gone" ? element("span", {}, found.label) : element("a", { href: topicAddress(found.topic) }, found.label);
}

function shares({ before, after }) {
  if (before === null || after === null) return percent(after ?? before);
  return `${percent(before)} → ${percent(after)}`;
}

function row(found) {
  return element(
    "tr",
    {},
    element("th", { scope: "row" }, name(found)),
    element("td", {}, badge(found.change)),
    element("td", { class: "figure" }, shares(found)),
    element("td", { class: "minor" }, found.words_in.join(", ")),
    element("td", { class: "minor" }, found.words_out.join(", ")),
  );
}

function short(found) {
  const difference = (found.after ?? 0) - (found.before ?? 0);
  return element("li", {}, badge(found.change), element("span", { class: "name one-line" }, name(found)), element("span", { class: "figure" }, points(difference)));
}
