// The map of topics: circles that can be chosen by pointer or by arrow keys.

import { drawn, element, fitted, followWidth, moved, textWidth } from "./dom.js";
import { percent } from "./numbers.js";

const LABEL_SIZE = 12;
// Circles are this part of the sum of their radii apart, if so many rounds of moving are enough.
const CLEAR = 0.92;
const ROUNDS = 60;

// topicMap({onSelect}) has an element and update(data, selected), with ids of topics.
export function topicMap({ onSelect }) {
  const picture = element("div", { class: "map" });
  const note = element("p", { class: "note" });
  const node = element("div", {}, picture, note);
  let now = null;
  let groups = new Map();

  function draw(width) {
    if (now === null) return;
    const hadFocus = picture.contains(document.activeElement);
    const places = placed(now.data.topics, width);
    groups = new Map();
    const circles = places.circles.map((place) => {
      const { topic, x, y, radius } = place;
      const title = `${topic.topic}: ${topic.label}, ${percent(topic.share)} of tokens`;
      const numbered = radius > 0.62 * textWidth(String(topic.topic), 11) + 1;
      const group = drawn(
        "g",
        { class: "topic", role: "option", tabindex: -1, "aria-label": title, "data-topic": topic.topic },
        drawn("title", {}, title),
        drawn("circle", { cx: x, cy: y, r: radius }),
        numbered ? drawn("text", { class: "number", x, y, dy: "0.35em" }, String(topic.topic)) : null,
      );
      group.addEventListener("click", () => onSelect(topic.topic));
      groups.set(topic.topic, group);
      return group;
    });
    const labels = places.labels.map(({ topic, text, x, y }) =>
      drawn("text", { class: "label", "data-topic": topic.topic, x, y, dy: "0.35em" }, text),
    );
    const svg = drawn(
      "svg",
      { width, height: places.height, role: "listbox", "aria-label": "Map of topics", onkeydown: onKey },
      ...circles,
      drawn(
        "g",
        { "aria-hidden": "true" },
        ...labels,
        drawn("circle", { class: "ring" }),
        drawn("text", { class: "label chosen" }),
      ),
    );
    picture.replaceChildren(svg);
    picture.places = places;
    mark(hadFocus);
  }

  function mark(focus) {
    for (const [id, group] of groups) {
      const chosen = id === now.selected;
      group.setAttribute("aria-selected", String(chosen));
      group.setAttribute("tabindex", chosen ? "0" : "-1");
      if (chosen && focus) group.focus();
    }
    const { circles, width } = picture.places;
    const place = circles.find(({ topic }) => topic.topic === now.selected);
    // Above all others, which may cover the chosen one.
    const ring = picture.querySelector(".ring");
    for (const [name, value] of [["cx", place.x], ["cy", place.y], ["r", place.radius]]) ring.setAttribute(name, value);
    const label = picture.querySelector(".label.chosen");
    const text = fitted(place.topic.label, width - 16, LABEL_SIZE + 1);
    const half = textWidth(text, LABEL_SIZE + 1, 600) / 2;
    const above = place.y - place.radius - 12;
    label.textContent = text;
    label.setAttribute("x", Math.min(Math.max(place.x - half, 6), Math.max(6, width - 2 * half - 6)));
    label.setAttribute("y", above > 12 ? above : place.y + place.radius + 18);
    for (const other of picture.querySelectorAll(".label[data-topic]")) {
      other.classList.toggle("hidden", Number(other.dataset.topic) === now.selected);
    }
  }

  function onKey(event) {
    const ids = now.data.topics.map((topic) => topic.topic);
    const place = moved(event.key, ids.indexOf(now.selected), ids.length);
    if (place === null) return;
    event.preventDefault();
    onSelect(ids[place]);
  }

  followWidth(picture, draw);
  return {
    element: node,
    update(data, selected) {
      const same = now !== null && now.data === data;
      now = { data, selected };
      note.textContent =
        `Circles that are near have similar words, and are moved apart where they would cover each other; their ` +
        `area is the share of tokens. Two dimensions show ${percent(data.explained, 0)} of the squared distances.`;
      if (!same && picture.clientWidth > 0) draw(picture.clientWidth);
      else if (groups.size > 0) mark(picture.contains(document.activeElement));
    },
  };
}

// Where circles and labels are in a picture of this width.
function placed(topics, width) {
  const height = Math.round(Math.min(Math.max(width, 300), 720));
  const margin = Math.min(56, 0.11 * width);
  const xs = topics.map((topic) => topic.position[0]);
  const ys = topics.map((topic) => topic.position[1]);
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  const [bottom, top] = [Math.min(...ys), Math.max(...ys)];
  const scale = Math.min(
    (width - 2 * margin) / (right - left || 1),
    (height - 2 * margin) / (top - bottom || 1),
  );
  const area = 0.06 * width * height;
  const circles = topics.map((topic) => ({
    topic,
    x: width / 2 + scale * (topic.position[0] - (left + right) / 2),
    y: height / 2 - scale * (topic.position[1] - (bottom + top) / 2),
    radius: Math.min(Math.max(Math.sqrt((area * topic.share) / Math.PI), 4), 0.9 * margin),
  }));
  moveApart(circles, width, height);
  return { circles, labels: labelled(circles, width, height), width, height };
}

// Push circles that cover each other apart, a little in each round, until each can be seen.
function moveApart(circles, width, height) {
  for (let round = 0; round < ROUNDS; round++) {
    let moving = false;
    for (const [i, a] of circles.entries()) {
      for (const b of circles.slice(i + 1)) {
        const [dx, dy] = [b.x - a.x, b.y - a.y];
        const distance = Math.hypot(dx, dy);
        const missing = CLEAR * (a.radius + b.radius) - distance;
        if (missing <= 0.5) continue;
        moving = true;
        // Those at the same place go ways that their numbers choose.
        const [x, y] = distance > 0.01 ? [dx / distance, dy / distance] : [Math.cos(i), Math.sin(i)];
        for (const [circle, way] of [[a, -missing / 4], [b, missing / 4]]) {
          circle.x = Math.min(Math.max(circle.x + way * x, circle.radius + 2), width - circle.radius - 2);
          circle.y = Math.min(Math.max(circle.y + way * y, circle.radius + 2), height - circle.radius - 2);
        }
      }
    }
    if (!moving) return;
  }
}

// Labels beside their circles, the largest topics first, as far as there is room.
function labelled(circles, width, height) {
  const taken = circles.map(({ x, y, radius }) => {
    const r = 0.75 * radius;
    return [x - r, y - r, x + r, y + r];
  });
  const labels = [];
  for (const { topic, x, y, radius } of circles) {
    const text = fitted(topic.label, 150, LABEL_SIZE);
    const long = textWidth(text, LABEL_SIZE);
    const beside = radius + 4;
    const starts = [
      [x + beside, y],
      [x - beside - long, y],
      [x - long / 2, y + beside + 6],
      [x - long / 2, y - beside - 6],
    ];
    for (const [start, middle] of starts) {
      const box = [start, middle - 8, start + long, middle + 8];
      const inside = box[0] > 2 && box[2] < width - 2 && box[1] > 2 && box[3] < height - 2;
      if (!inside || taken.some((other) => overlapping(box, other))) continue;
      taken.push(box);
      labels.push({ topic, text, x: start, y: middle });
      break;
    }
  }
  return labels;
}

function overlapping(a, b) {
  return a[0] < b[2] + 2 && b[0] < a[2] + 2 && a[1] < b[3] && b[1] < a[3];
}
