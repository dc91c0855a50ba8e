// The share of a topic over time, with its intervals.

import { drawn, element, followWidth, moved, textWidth } from "./dom.js";
import { counted, date, pValue, percent, ticks, trendSign } from "./numbers.js";

const HEIGHT = 250;
const MARGIN = { left: 50, right: 14, top: 14, bottom: 26 };

// timeline() has an element and update(data, topic).
export function timeline() {
  const verdict = element("p", { class: "verdict" });
  const picture = element("div", { class: "timeline" });
  const readout = element("p", { class: "readout" });
  const rows = element("tbody");
  const note = element("p", { class: "note" });
  const heads = ["From", "Share", "Interval", "Documents", "Words"];
  const numbers = element(
    "details",
    {},
    element("summary", {}, "As a table"),
    element(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": "Shares over time" },
      element(
        "table",
        { class: "plain" },
        element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", { scope: "col" }, head)))),
        rows,
      ),
    ),
  );
  const node = element("div", {}, verdict, picture, readout, numbers, note);
  let now = null;
  let cursor = null;
  let scales = null;

  function draw(width) {
    if (now === null) return;
    const { data, topic } = now;
    const { edges } = data.time;
    const most = Math.max(...topic.upper.filter((value) => value !== null), 1e-6);
    const steps = ticks(1.05 * most);
    const top = Math.max(1.05 * most, steps.at(-1));
    const [first, last] = [edges[0], edges.at(-1)];
    const x = (time) => MARGIN.left + ((width - MARGIN.left - MARGIN.right) * (time - first)) / (last - first);
    const y = (share) => HEIGHT - MARGIN.bottom - ((HEIGHT - MARGIN.top - MARGIN.bottom) * share) / top;
    const middles = edges.slice(1).map((edge, i) => (edge + edges[i]) / 2);
    scales = { x, y, middles, width };
    const parts = steps.flatMap((value) => [
      drawn("line", { class: "grid", x1: MARGIN.left, x2: width - MARGIN.right, y1: y(value), y2: y(value) }),
      drawn("text", { class: "tick", x: MARGIN.left - 7, y: y(value), dy: "0.35em", "text-anchor": "end" }, `${+(100 * value).toPrecision(3)}\u00a0%`),
    ]);
    parts.push(...timeTicks(edges, x, width));
    for (const run of runs(topic.shares)) {
      const up = run.map((i) => `${x(middles[i])},${y(topic.upper[i])}`);
      const down = run.map((i) => `${x(middles[i])},${y(topic.lower[i])}`).reverse();
      parts.push(drawn("polygon", { class: "band", points: [...up, ...down].join(" ") }));
      parts.push(drawn("polyline", { class: "line", points: run.map((i) => `${x(middles[i])},${y(topic.shares[i])}`).join(" ") }));
      parts.push(...run.map((i) => drawn("circle", { class: "dot", cx: x(middles[i]), cy: y(topic.shares[i]), r: 2.5 })));
      if (run.length === 1) {
        const [i] = run;
        parts.push(drawn("line", { class: "whisker", x1: x(middles[i]), x2: x(middles[i]), y1: y(topic.lower[i]), y2: y(topic.upper[i]) }));
      }
    }
    if (topic.trend.time !== null) {
      const at = x(topic.trend.time);
      parts.push(drawn("line", { class: "change", x1: at, x2: at, y1: MARGIN.top, y2: HEIGHT - MARGIN.bottom }));
      parts.push(drawn("text", { class: "change-sign", x: at + 5, y: MARGIN.top + 4 }, trendSign(topic.trend.kind)[0]));
    }
    parts.push(drawn("line", { class: "cursor", y1: MARGIN.top, y2: HEIGHT - MARGIN.bottom }));
    const svg = drawn(
      "svg",
      {
        width, height: HEIGHT, tabindex: 0, role: "slider", "aria-label": `Share of topic ${topic.topic} over time`,
        "aria-valuemin": 0, "aria-valuemax": middles.length - 1, onkeydown: onKey, onpointermove: onPoint, onpointerdown: onPoint,
      },
      ...parts,
    );
    const focused = picture.contains(document.activeElement);
    picture.replaceChildren(svg);
    if (focused) svg.focus();
    show();
  }

  function show() {
    const { data, topic } = now;
    const bin = Math.min(cursor ?? topic.shares.length - 1, topic.shares.length - 1);
    const text = described(data, topic, bin);
    readout.textContent = text;
    const svg = picture.firstChild;
    svg.setAttribute("aria-valuenow", bin);
    svg.setAttribute("aria-valuetext", text);
    const at = scales.x(scales.middles[bin]);
    const line = svg.querySelector(".cursor");
    line.setAttribute("x1", at);
    line.setAttribute("x2", at);
  }

  function onKey(event) {
    const n = now.topic.shares.length;
    const place = moved(event.key, cursor ?? n - 1, n);
    if (place === null) return;
    event.preventDefault();
    cursor = place;
    show();
  }

  function onPoint(event) {
    const at = event.clientX - picture.firstChild.getBoundingClientRect().left;
    const away = scales.middles.map((middle) => Math.abs(scales.x(middle) - at));
    cursor = away.indexOf(Math.min(...away));
    show();
  }

  followWidth(picture, draw);
  return {
    element: node,
    update(data, topic) {
      now = { data, topic };
      verdict.replaceChildren(...judged(topic, data.time.edges));
      note.textContent = explained(data.time);
      rows.replaceChildren(...topic.shares.map((_, bin) => binRow(data, topic, bin)));
      if (picture.clientWidth > 0) draw(picture.clientWidth);
    },
  };
}

// Bins in a row that have documents.
export function runs(shares) {
  const found = [];
  shares.forEach((share, i) => {
    if (share === null) return;
    if (i > 0 && shares[i - 1] !== null) found.at(-1).push(i);
    else found.push([i]);
  });
  return found;
}

function timeTicks(edges, x, width) {
  const step = edges[1] - edges[0];
  const wide = textWidth(date(edges[0], step), 12) + 18;
  const fit = Math.max(2, Math.floor((width - MARGIN.left - MARGIN.right) / wide));
  const every = Math.ceil((edges.length - 1) / fit);
  const parts = [];
  let end = -Infinity;
  edges.forEach((edge, i) => {
    if (i % every !== 0) return;
    const half = wide / 2 - 9;
    const at = Math.min(Math.max(x(edge), half + 2), width - half - 2);
    if (at - half < end) return;
    end = at + half + 6;
    parts.push(drawn("line", { class: "axis", x1: x(edge), x2: x(edge), y1: HEIGHT - MARGIN.bottom, y2: HEIGHT - MARGIN.bottom + 4 }));
    parts.push(drawn("text", { class: "tick", x: at, y: HEIGHT - 7, "text-anchor": "middle" }, date(edge, step)));
  });
  return parts;
}

function span({ edges }, bin) {
  const step = edges[bin + 1] - edges[bin];
  return `${date(edges[bin], step)} to ${date(edges[bin + 1], step)}`;
}

function wordsOf(data, topic, bin) {
  return topic.bin_words[bin].map((number) => data.words[number]).join(", ");
}

function interval(topic, bin) {
  return `${percent(topic.lower[bin], 2)} to ${percent(topic.upper[bin], 2)}`;
}

function described(data, topic, bin) {
  if (topic.shares[bin] === null) return `${span(data.time, bin)}: no documents`;
  const words = wordsOf(data, topic, bin);
  return (
    `${span(data.time, bin)}: ${percent(topic.shares[bin], 2)} (${interval(topic, bin)}) of ` +
    `${counted(data.time.n_documents[bin], "document")}${words ? `; ${words}` : ""}`
  );
}

function binRow(data, topic, bin) {
  const { edges } = data.time;
  const empty = topic.shares[bin] === null;
  return element(
    "tr",
    {},
    element("th", { scope: "row" }, date(edges[bin], edges[bin + 1] - edges[bin])),
    element("td", { class: "figure" }, percent(topic.shares[bin], 2)),
    element("td", { class: "figure" }, empty ? "–" : interval(topic, bin)),
    element("td", { class: "figure" }, String(data.time.n_documents[bin])),
    element("td", {}, wordsOf(data, topic, bin)),
  );
}

// What the trend of a topic is, in words.
function judged(topic, edges) {
  const { kind, before, after, time, p_value } = topic.trend;
  const [sign, name] = trendSign(kind);
  const badge = element("span", { class: `badge ${name}` }, `${sign} ${name}`.trim());
  if (time === null) {
    return [badge, ` ${percent(before, 2)} on average; no change that is larger than chance (${pValue(p_value)}).`];
  }
  const when = date(time, edges[1] - edges[0]);
  return [badge, ` from ${percent(before, 2)} before ${when} to ${percent(after, 2)} since then (${pValue(p_value)}).`];
}

function explained(time) {
  const left = [
    [time.n_without_time, "without a time"],
    [time.n_outside, "outside of the range"],
    [time.n_without_words, "without a word that the model knows"],
  ].filter(([n]) => n > 0);
  const missing = left.map(([n, why]) => `${counted(n, "document")} ${why}`).join("; ");
  return (
    `The share is the mean over documents of the part that is about the topic; the band is a ` +
    `${percent(time.level, 0)} interval. Trends are corrected for the number of topics. Times are UTC.` +
    (missing ? ` Left out: ${missing}.` : "")
  );
}
