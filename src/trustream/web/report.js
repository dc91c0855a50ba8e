// The page of a report: arranges the components, and keeps which topic is chosen.

import { wordBars } from "./bars.js";
import { topicCard } from "./card.js";
import { documentList } from "./documents.js";
import { element } from "./dom.js";
import { topicTree } from "./hierarchy.js";
import { topicMap } from "./map.js";
import { count, date } from "./numbers.js";
import { topicTable } from "./table.js";
import { timeline } from "./timeline.js";
import { trendList } from "./trends.js";

const FORMAT = 1;

function panel(title, name, ...children) {
  return element("section", { class: `panel ${name}`, "aria-label": title }, element("h2", { class: "panel-title" }, title), ...children);
}

function summary(data) {
  const parts = [`${count(data.topics.length)} topics`, `${count(data.n_words)} words`];
  if (data.n_documents !== null) parts.push(`${count(data.n_documents)} documents`, `${count(data.n_tokens)} tokens`);
  if (data.time) {
    const { edges } = data.time;
    const step = edges[1] - edges[0];
    parts.push(`${date(edges[0], step)} to ${date(edges.at(-1), step)}`);
  }
  return element("p", { class: "summary" }, parts.join(" · "));
}

export function report(root, data) {
  if (data.format !== FORMAT) throw new Error(`data of format ${data.format}, expected ${FORMAT}`);
  const byId = new Map(data.topics.map((topic) => [topic.topic, topic]));
  const views = { card: topicCard({ onSelect }), map: topicMap({ onSelect }), bars: wordBars(), table: topicTable({ onSelect }) };
  const parts = [
    panel("Map of topics", "of-map", views.map.element),
    element("section", { class: "panel of-topic", "aria-labelledby": "chosen-topic" }, views.card.element, views.bars.element),
  ];
  // A single bin says nothing about time.
  if (data.time && data.time.edges.length > 2) {
    views.timeline = timeline();
    views.trends = trendList({ onSelect });
    parts.push(panel("Over time", "of-time", views.timeline.element));
  }
  if (data.topics[0].documents) {
    views.documents = documentList();
    parts.push(panel("Documents", "of-documents", views.documents.element));
  }
  if (views.trends) parts.push(panel("New, rising and fading topics", "whole", views.trends.element));
  if (data.topics.length > 1) {
    views.tree = topicTree({ onSelect });
    const title = element("summary", {}, element("h2", { class: "panel-title" }, "Hierarchy"));
    const folded = element("details", { open: data.topics.length <= 30 }, title, views.tree.element);
    parts.push(element("section", { class: "panel whole", "aria-label": "Hierarchy" }, folded));
  }
  parts.push(panel("All topics", "whole", views.table.element));
  root.replaceChildren(
    element("header", {}, element("h1", {}, data.title), summary(data)),
    element("div", { class: "panels" }, ...parts),
    element("footer", { class: "note" }, "Made with trustream. This page works without a network and sends nothing."),
  );

  function onSelect(id) {
    const name = `#topic-${id}`;
    if (location.hash === name) show(id);
    else location.hash = name;
  }

  function show(id) {
    const topic = byId.get(id);
    for (const name of ["card", "bars", "timeline", "documents"]) views[name]?.update(data, topic);
    for (const name of ["map", "table", "trends", "tree"]) views[name]?.update(data, id);
  }

  // So that a link can lead to a topic, and the browser back to the one before.
  function follow() {
    const id = Number((/^#topic-(\d+)$/.exec(location.hash) ?? [])[1]);
    show(byId.has(id) ? id : data.topics[0].topic);
  }

  addEventListener("hashchange", follow);
  follow();
}
