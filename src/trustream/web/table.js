// All topics as a table that can be sorted and searched.

import { element, keepingFocus, pressed } from "./dom.js";
import { count, percent, trendSign } from "./numbers.js";
import { mostRelevant } from "./relevance.js";
import { sparkline } from "./sparkline.js";

const RANK = { new: 0, rising: 1, steady: 2, fading: 3 };
// Name, what to sort by, whether the largest come first, and how to show it; null where a report has none.
const COLUMNS = [
  { name: "Topic", by: (topic) => topic.topic, cell: (topic) => String(topic.topic), figure: true },
  { name: "Label", by: (topic) => topic.label.toLowerCase() },
  { name: "Share", by: (topic) => topic.share, falling: true, figure: true, cell: (topic) => percent(topic.share, 2) },
  {
    name: "Documents", by: (topic) => topic.n_documents, falling: true, figure: true, minor: true,
    cell: (topic) => count(topic.n_documents),
  },
  {
    name: "Coherence", by: (topic) => topic.coherence, falling: true, figure: true, minor: true,
    cell: (topic) => (topic.coherence === null ? "–" : topic.coherence.toFixed(3)),
  },
  {
    name: "Trend", by: (topic) => (topic.trend ? RANK[topic.trend.kind] : null),
    cell: (topic) => [sparkline(topic.shares, 72, 20), ` ${trendSign(topic.trend.kind).join(" ").trim()}`],
  },
];

// topicTable({onSelect}) has an element and update(data, selected).
export function topicTable({ onSelect }) {
  const search = element("input", {
    type: "search", placeholder: "a word or a label", "aria-label": "Search topics", oninput: () => draw(),
  });
  const found = element("span", { class: "note", role: "status" });
  const head = element("tr");
  const rows = element("tbody");
  const node = element(
    "div",
    {},
    element("div", { class: "search" }, element("label", {}, "Search ", search), found),
    element("table", { class: "plain topics" }, element("thead", {}, head), rows),
  );
  let now = null;
  let sorted = { name: "Share", falling: true };

  function columns() {
    return COLUMNS.filter((column) => now.data.topics.some((topic) => column.by(topic) !== null));
  }

  function draw() {
    const shown = columns();
    const column = shown.find(({ name }) => name === sorted.name);
    const order = sorted.falling ? -1 : 1;
    const wanted = search.value.trim().toLowerCase();
    const topics = now.data.topics.filter((topic) => matches(topic, wanted));
    topics.sort((a, b) => order * compared(column.by(a), column.by(b)));
    head.replaceChildren(...shown.map(heading));
    keepingFocus(rows, () => rows.replaceChildren(...topics.map((topic) => topicRow(topic, shown))));
    found.textContent = wanted ? `${topics.length} of ${now.data.topics.length} topics` : "";
    pressed(rows, now.selected);
  }

  function heading(column) {
    const chosen = column.name === sorted.name;
    const direction = chosen ? (sorted.falling ? "descending" : "ascending") : null;
    const sign = chosen ? (sorted.falling ? " ↓" : " ↑") : "";
    return element(
      "th",
      { scope: "col", "aria-sort": direction, class: classes(column) },
      element("button", { type: "button", onclick: () => sortBy(column) }, column.name + sign),
    );
  }

  function sortBy(column) {
    const again = column.name === sorted.name;
    sorted = { name: column.name, falling: again ? !sorted.falling : Boolean(column.falling) };
    const place = columns().indexOf(column);
    draw();
    head.children[place].querySelector("button").focus();
  }

  function matches(topic, wanted) {
    if (!wanted) return true;
    return topic.label.toLowerCase().includes(wanted) || now.words.get(topic).some((word) => word.includes(wanted));
  }

  function topicRow(topic, shown) {
    const words = now.words.get(topic).slice(0, 8).join(" ");
    const label = [
      element("button", { type: "button", "data-topic": topic.topic, onclick: () => onSelect(topic.topic) }, topic.label),
      element("div", { class: "note" }, words),
    ];
    return element(
      "tr",
      {},
      ...shown.map((column) =>
        column.name === "Label"
          ? element("th", { scope: "row" }, label)
          : element("td", { class: classes(column) }, column.cell(topic)),
      ),
    );
  }

  return {
    element: node,
    update(data, selected) {
      const same = now !== null && now.data === data;
      const words = same ? now.words : new Map();
      now = { data, selected, words };
      if (same) return pressed(rows, selected);
      for (const topic of data.topics) {
        words.set(topic, mostRelevant(data, topic, data.relevance.start).map(({ word }) => word.toLowerCase()));
      }
      draw();
    },
  };
}

function classes({ figure, minor }) {
  return [figure ? "figure" : "", minor ? "minor" : ""].join(" ").trim() || null;
}

function compared(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}
