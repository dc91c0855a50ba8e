// The map, trends, hierarchy and table of topics: the components of the HTML report, kept current.

import { wordBars } from "../bars.js";
import { topicCard } from "../card.js";
import { element } from "../dom.js";
import { topicTree } from "../hierarchy.js";
import { topicMap } from "../map.js";
import { topicTable } from "../table.js";
import { trendList } from "../trends.js";
import { aligned } from "./align.js";
import { following, heading, panel, topicAddress, withoutTopics } from "./panel.js";

// Stay from one visit to the next: the topic that is chosen, and where topics are on the map.
let chosen = null;
let places = new Map();
let turned = { from: null, data: null };

export function mapView(live) {
  const note = element("p", { role: "status" });
  const node = element("div", {}, heading("Map and trends"), note);
  let views = null;

  function build(data) {
    views = { card: topicCard({ onSelect }), map: topicMap({ onSelect }), bars: wordBars(), table: topicTable({ onSelect }) };
    const link = element("a", { class: "open-topic" }, "Open the page of this topic");
    views.link = link;
    const parts = [
      panel("Map of topics", "of-map", views.map.element),
      element("section", { class: "panel of-topic", "aria-labelledby": "chosen-topic" }, views.card.element, element("p", {}, link), views.bars.element),
    ];
    if (data.time && data.time.edges.length > 2) {
      views.trends = trendList({ onSelect });
      parts.push(panel("New, rising and fading topics", "whole", views.trends.element));
    }
    if (data.topics.length > 1) {
      views.tree = topicTree({ onSelect });
      const title = element("summary", {}, element("h2", { class: "panel-title" }, "Hierarchy"));
      const folded = element("details", { open: data.topics.length <= 30 }, title, views.tree.element);
      parts.push(element("section", { class: "panel whole", "aria-label": "Hierarchy" }, folded));
    }
    parts.push(panel("All topics", "whole", views.table.element));
    node.append(element("div", { class: "panels" }, ...parts));
  }

  function onSelect(id) {
    chosen = id;
    show();
  }

  function show() {
    const data = live.report === null ? null : upright(live.report);
    note.textContent = data === null ? withoutTopics(live) : "";
    if (data === null) return;
    if (views === null) build(data);
    const topic = data.topics.find((found) => found.topic === chosen) ?? data.topics[0];
    chosen = topic.topic;
    views.link.setAttribute("href", topicAddress(chosen));
    for (const name of ["card", "bars"]) views[name].update(data, topic);
    for (const name of ["map", "table", "trends", "tree"]) views[name]?.update(data, chosen);
  }

  const leave = following(live, ["report", "model"], () => (live.report !== turned.from || views === null) && show());
  show();
  return { title: "Map and trends", element: node, leave };
}

// The report with places that do not turn from one to the next.
function upright(report) {
  if (turned.from !== report) {
    places = aligned(report.topics, places);
    const topics = report.topics.map((topic) => ({ ...topic, position: places.get(topic.topic) }));
    turned = { from: report, data: { ...report, topics } };
  }
  return turned.data;
}
