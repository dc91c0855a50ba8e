// A line over time that is drawn anew as points arrive; pointer or arrow keys read it.

import { drawn, element, followWidth, moved, textWidth } from "../dom.js";
import { date } from "../numbers.js";

const TALL = 170;
const EDGE = { left: 58, right: 12, top: 10, bottom: 24 };
const STEPS = [1, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 1209600, 2592000, 7776000];

// lineChart({label, write, describe}) has an element and update(points), points of {time, value}.
// `write(value, step)` makes the text of an axis, `describe` that of a point, and `none` that of no points.
export function lineChart({ label, write, describe, none }) {
  const picture = element("div", { class: "timeline line-chart", onfocusout: () => draw(picture.clientWidth) });
  const readout = element("p", { class: "readout" });
  // None until they were asked for.
  let given = null;
  let now = null;
  let cursor = null;
  let scales = null;

  function draw(width) {
    now = given;
    if (now === null || now.length === 0) {
      scales = null;
      picture.replaceChildren(element("p", { class: "note empty" }, now === null ? "Loading…" : none));
      readout.textContent = "\u00a0";
      return;
    }
    const [first, last] = [now[0].time, Math.max(now.at(-1).time, now[0].time + 1)];
    const values = now.map((point) => point.value);
    const marks = axis(Math.min(...values), Math.max(...values));
    const [low, high] = [marks[0], marks.at(-1)];
    const x = (time) => EDGE.left + ((width - EDGE.left - EDGE.right) * (time - first)) / (last - first);
    const y = (value) => TALL - EDGE.bottom - ((TALL - EDGE.top - EDGE.bottom) * (value - low)) / (high - low);
    scales = { x, y };
    const parts = marks.flatMap((value) => [
      drawn("line", { class: "grid", x1: EDGE.left, x2: width - EDGE.right, y1: y(value), y2: y(value) }),
      drawn("text", { class: "tick", x: EDGE.left - 7, y: y(value), dy: "0.35em", "text-anchor": "end" }, write(value, marks[1] - marks[0])),
    ]);
    parts.push(...times(first, last, x, width));
    parts.push(drawn("polyline", { class: "line", points: now.map((point) => `${x(point.time)},${y(point.value)}`).join(" ") }));
    parts.push(drawn("line", { class: "cursor", y1: EDGE.top, y2: TALL - EDGE.bottom }));
    parts.push(drawn("circle", { class: "dot here", r: 3.5 }));
    const svg = drawn(
      "svg",
      {
        width, height: TALL, tabindex: 0, role: "slider", "aria-label": label, "aria-valuemin": 0,
        "aria-valuemax": now.length - 1, onkeydown: onKey, onpointermove: onPoint, onpointerleave: leave,
      },
      ...parts,
    );
    picture.replaceChildren(svg);
    show();
  }

  // Without a cursor the last point is read.
  function show() {
    const place = cursor === null ? now.length - 1 : nearest(cursor);
    const point = now[place];
    const text = describe(point);
    readout.textContent = text;
    const svg = picture.firstChild;
    svg.setAttribute("aria-valuenow", place);
    svg.setAttribute("aria-valuetext", text);
    const line = svg.querySelector(".cursor");
    const dot = svg.querySelector(".here");
    for (const name of ["x1", "x2"]) line.setAttribute(name, scales.x(point.time));
    dot.setAttribute("cx", scales.x(point.time));
    dot.setAttribute("cy", scales.y(point.value));
  }

  // Points move on while one is read: the cursor stays at its time.
  function nearest(time) {
    let best = 0;
    for (let i = 1; i < now.length; i++) if (Math.abs(now[i].time - time) < Math.abs(now[best].time - time)) best = i;
    return best;
  }

  function onKey(event) {
    const place = moved(event.key, cursor === null ? now.length - 1 : nearest(cursor), now.length);
    if (place === null) return;
    event.preventDefault();
    cursor = place === now.length - 1 ? null : now[place].time;
    show();
  }

  function onPoint(event) {
    const at = event.clientX - picture.firstChild.getBoundingClientRect().left;
    const away = now.map((point) => Math.abs(scales.x(point.time) - at));
    cursor = now[away.indexOf(Math.min(...away))].time;
    show();
  }

  function leave() {
    cursor = null;
    show();
  }

  followWidth(picture, draw);
  return {
    element: element("div", {}, picture, readout),
    update(points) {
      given = points;
      // A line that is read by keys stays as it is until it is left.
      if (picture.clientWidth > 0 && !picture.contains(document.activeElement)) draw(picture.clientWidth);
    },
  };
}

// Round numbers around the values, three to six of them.
function axis(least, most) {
  const spread = Math.max(most - least, 1e-3 * Math.max(Math.abs(most), Math.abs(least)), 1e-6);
  const rough = spread / 3;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((value) => value >= rough);
  const start = Math.floor(least / step);
  const end = Math.max(Math.ceil(most / step), start + 2);
  return Array.from({ length: end - start + 1 }, (_, i) => (start + i) * step);
}

// Round times, as many as there is room for.
function times(first, last, x, width) {
  const parts = [];
  const room = width - EDGE.left - EDGE.right;
  for (const step of STEPS) {
    const write = (time) => written(time, step, last - first);
    const wide = textWidth(write(last), 12) + 16;
    if ((step / (last - first)) * room < wide) continue;
    for (let time = Math.ceil(first / step) * step; time <= last; time += step) {
      const half = wide / 2 - 6;
      if (x(time) - half < EDGE.left - 40 || x(time) + half > width) continue;
      parts.push(drawn("line", { class: "axis", x1: x(time), x2: x(time), y1: TALL - EDGE.bottom, y2: TALL - EDGE.bottom + 4 }));
      parts.push(drawn("text", { class: "tick", x: x(time), y: TALL - 6, "text-anchor": "middle" }, write(time)));
    }
    break;
  }
  return parts;
}

function written(time, step, span) {
  const text = date(time, step < 60 ? 1 : 60);
  if (step >= 86400) return text.slice(0, text.indexOf(" "));
  return span > 86400 ? text.slice(text.indexOf("-") + 1) : text.slice(text.indexOf(" ") + 1);
}
