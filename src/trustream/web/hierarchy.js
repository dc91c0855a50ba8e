// How topics join, step by step, the most alike first.

import { drawn, element, fitted, followWidth } from "./dom.js";

const STEP = 22;
const SIZE = 12;
const AXIS = 34;

// topicTree({onSelect}) has an element and update(data, selected).
export function topicTree({ onSelect }) {
  const picture = element("div", { class: "tree" });
  let now = null;

  function draw(width) {
    if (now === null) return;
    const { order, mergers, distance } = now.data.hierarchy;
    const labels = new Map(now.data.topics.map((topic) => [topic.topic, topic.label]));
    const left = Math.min(260, 0.52 * width);
    const distances = mergers.map((merger) => merger.distance);
    // The axis begins a little before the first two topics join.
    const [least, most] = [0.9 * Math.min(...distances), Math.max(...distances, 1e-9)];
    const x = (value) => left + ((width - left - 12) * (value - least)) / (most - least);
    const place = new Map(order.map((topic, i) => [topic, { y: STEP * (i + 0.5), x: left }]));
    const lines = mergers.map((merger) => {
      const [a, b] = [place.get(merger.left), place.get(merger.right)];
      const at = x(merger.distance);
      const path = `M${a.x},${a.y} H${at} V${b.y} H${b.x}`;
      // Both groups are in one place from now on: that of their first topics.
      const joined = { x: at, y: (a.y + b.y) / 2 };
      for (const [topic, found] of place) if (found === a || found === b) place.set(topic, joined);
      return drawn(
        "g",
        { class: "merger" },
        drawn("title", {}, `${merger.label} (distance ${merger.distance.toFixed(2)})`),
        drawn("path", { class: "wide", d: path }),
        drawn("path", { d: path }),
      );
    });
    const names = order.map((topic, i) => {
      const full = `${topic}: ${labels.get(topic)}`;
      const text = drawn(
        "text",
        { class: "leaf", "data-topic": topic, x: left - 8, y: STEP * (i + 0.5), dy: "0.35em", "text-anchor": "end" },
        drawn("title", {}, full),
        fitted(full, left - 14, SIZE),
      );
      text.addEventListener("click", () => onSelect(topic));
      return text;
    });
    const height = STEP * order.length;
    const axis = [least, (least + most) / 2, most].map((value, i) =>
      drawn(
        "text",
        { class: "tick", x: x(value), y: height + 16, "text-anchor": ["start", "middle", "end"][i] },
        value.toFixed(2),
      ),
    );
    const label = `Hierarchy of topics by ${distance} distance; from top to bottom: ${order.map((topic) => labels.get(topic)).join("; ")}`;
    picture.replaceChildren(
      drawn("svg", { width, height: height + AXIS, role: "img", "aria-label": label }, ...lines, ...names, ...axis),
    );
    mark();
  }

  function mark() {
    for (const leaf of picture.querySelectorAll(".leaf")) {
      leaf.classList.toggle("chosen", Number(leaf.dataset.topic) === now.selected);
    }
  }

  followWidth(picture, draw);
  return {
    element: element(
      "div",
      {},
      element("p", { class: "note" }, "Topics whose words are alike join early, on the left; numbers are distances. The table below leads to topics by keyboard."),
      picture,
    ),
    update(data, selected) {
      const same = now !== null && now.data === data;
      now = { data, selected };
      if (same) mark();
      else if (picture.clientWidth > 0) draw(picture.clientWidth);
    },
  };
}
