// The topics that are new, rising or fading.

import { element, keepingFocus, pressed } from "./dom.js";
import { percent, trendSign } from "./numbers.js";
import { sparkline } from "./sparkline.js";

const KINDS = ["new", "rising", "fading"];

// trendList({onSelect}) has an element and update(data, selected).
export function trendList({ onSelect }) {
  const node = element("div", { class: "trends" });
  let shown = null;
  return {
    element: node,
    update(data, selected) {
      if (data === shown) return pressed(node, selected);
      shown = data;
      const groups = KINDS.map((kind) => group(data, kind, onSelect)).filter((found) => found);
      const none = element("p", { class: "note" }, "No topic changes by more than chance.");
      keepingFocus(node, () => node.replaceChildren(...(groups.length ? groups : [none])));
      pressed(node, selected);
    },
  };
}

function group(data, kind, onSelect) {
  const found = data.topics.filter((topic) => topic.trend.kind === kind);
  if (!found.length) return null;
  const change = ({ trend }) => Math.abs(trend.after - trend.before);
  found.sort((a, b) => change(b) - change(a));
  return element(
    "section",
    {},
    element("h3", {}, element("span", { class: `badge ${kind}` }, trendSign(kind).join(" ")), ` ${found.length}`),
    element("ul", {}, ...found.map((topic) => element("li", {}, trendButton(topic, onSelect)))),
  );
}

function trendButton(topic, onSelect) {
  const { before, after } = topic.trend;
  return element(
    "button",
    { type: "button", "data-topic": topic.topic, onclick: () => onSelect(topic.topic) },
    element("span", { class: "name" }, topic.label),
    sparkline(topic.shares, 72, 20),
    element("span", { class: "figure" }, `${percent(before)} → ${percent(after)}`),
  );
}
