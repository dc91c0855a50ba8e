// Topics as cards that grow, shrink and appear. Cards stay where they are until they are sorted
// again, and all have the same height, so that nothing jumps.

import { element, visible } from "../dom.js";
import { count, percent, trendSign } from "../numbers.js";
import { mostRelevant } from "../relevance.js";
import { relevanceSlider } from "../slider.js";
import { sparkline } from "../sparkline.js";
import { ask } from "./api.js";
import { moment, points } from "./figures.js";
import { documentAddress, topicAddress, withoutTopics } from "./panel.js";

const AT_ONCE = 48;
const WORDS = 12;
const DOCUMENTS = 2;
// Smaller changes of a share are not shown.
const LEAST = 0.001;
// A topic has a word if it is among its first ones, or if much of its uses are there.
const [FIRST, MUCH] = [50, 0.05];
const ORDERS = {
  share: ["largest first", (a, b) => b.share - a.share],
  change: ["most changed first", (a, b, change) => Math.abs(change(b)) - Math.abs(change(a))],
  label: ["by label", (a, b) => a.label.localeCompare(b.label, "en")],
  number: ["by number", (a, b) => a.topic - b.topic],
};

// Stays from one visit to the next.
const kept = { search: "", order: "share", shown: AT_ONCE };

// topicCards(live) has an element, update() and leave().
export function topicCards(live) {
  const cards = new Map();
  const slider = relevanceSlider(() => draw());
  const search = element("input", { type: "search", id: "search", placeholder: "a word or a label", value: kept.search, oninput: onSearch });
  const order = element(
    "select",
    { id: "order", onchange: () => sort() },
    ...Object.entries(ORDERS).map(([name, [text]]) => element("option", { value: name, selected: name === kept.order }, text)),
  );
  const again = element("button", { type: "button", class: "again", disabled: true, onclick: () => sort() }, "Sort again");
  const said = element("p", { class: "note" });
  const matched = element("p", { class: "note matched", role: "status" });
  const list = element("ul", { class: "cards" });
  const more = element("button", { type: "button", class: "more", onclick: showMore });
  const arrows = element("p", { class: "note" }, "\u00a0");
  const node = element(
    "section",
    { class: "of-cards", "aria-labelledby": "cards-title" },
    element("h2", { id: "cards-title" }, "Topics"),
    element(
      "div",
      { class: "controls" },
      element("div", { class: "control" }, element("label", { for: "search" }, "Search topics by word"), search),
      element("div", { class: "control" }, element("label", { for: "order" }, "Order"), element("div", { class: "together" }, order, again)),
      slider.element,
    ),
    said,
    matched,
    list,
    more,
    arrows,
  );
  let sequence = [];
  let found = null;
  let searching = null;
  let left = false;

  const change = ({ topic, share }) => (live.opened.shares.has(topic) ? share - live.opened.shares.get(topic) : share);

  // --- in which order, and which of them

  function sort() {
    const { topics } = live.report;
    kept.order = order.value;
    const [, compare] = ORDERS[kept.order];
    sequence = [...topics].sort((a, b) => compare(a, b, change)).map((topic) => topic.topic);
    again.disabled = true;
    draw();
  }

  // Topics that are new come last, until cards are sorted again.
  function extend() {
    const { topics } = live.report;
    const there = new Set(sequence);
    const added = topics.filter((topic) => !there.has(topic.topic)).map((topic) => topic.topic);
    sequence.splice(Math.min(kept.shown, sequence.length), 0, ...added);
    if (sequence.length > AT_ONCE) kept.shown += added.length;
    const [, compare] = ORDERS[kept.order];
    const wanted = [...topics].sort((a, b) => compare(a, b, change)).map((topic) => topic.topic);
    again.disabled = wanted.length === sequence.length && wanted.every((topic, i) => topic === sequence[i]);
  }

  function wanted(byId) {
    const text = kept.search.trim().toLowerCase();
    if (!text) return sequence;
    const { words } = live.report;
    const here = sequence.filter((id) => {
      const topic = byId.get(id);
      return topic && (topic.label.toLowerCase().includes(text) || topic.words.some((word) => words[word].toLowerCase().includes(text)));
    });
    const there = found?.query === text ? [...found.topics.keys()].filter((id) => byId.has(id)) : [];
    return [...new Set([...there, ...here])];
  }

  // --- drawing

  function draw() {
    if (live.report === null) {
      said.textContent = withoutTopics(live);
      more.hidden = true;
      return;
    }
    const byId = new Map(live.report.topics.map((topic) => [topic.topic, topic]));
    const ids = wanted(byId);
    const shown = ids.slice(0, kept.shown);
    const most = Math.max(...live.report.topics.map((topic) => topic.share), 1e-9);
    for (const id of shown) {
      if (!cards.has(id)) cards.set(id, topicTile(id));
      const place = found?.query === kept.search.trim().toLowerCase() ? found.topics.get(id) : null;
      cards.get(id).update(live, byId.get(id) ?? null, slider.value(), most, place);
    }
    arrange(list, shown.map((id) => cards.get(id).element));
    more.hidden = shown.length === ids.length;
    more.textContent = `Show ${count(Math.min(AT_ONCE, ids.length - shown.length))} more of ${count(ids.length)}`;
    matched.textContent = kept.search.trim()
      ? `${count(ids.length)} of ${count(live.report.topics.length)} topics have “${visible(kept.search.trim())}”.`
      : "";
    said.textContent = `${count(live.report.topics.length)} topics, from ${live.report.is_sample ? "a sample of " : ""}${count(live.report.n_documents)} documents, computed at ${moment(live.report.computed)}.`;
    arrows.textContent = `▲ and ▼ say how the share changed since this page was opened at ${moment(live.opened.time)}, ✦ that a topic appeared.`;
  }

  function showMore() {
    const first = list.children.length;
    kept.shown += AT_ONCE;
    draw();
    list.children[first]?.querySelector("a")?.focus();
  }

  // --- search: what the report has at once, what the model has a moment later

  function onSearch() {
    kept.search = search.value;
    kept.shown = AT_ONCE;
    clearTimeout(searching);
    searching = setTimeout(askForWords, 250);
    draw();
  }

  async function askForWords() {
    const query = kept.search.trim().toLowerCase();
    if (!query || live.report === null) return;
    try {
      const answer = await ask("search", { query: { word: query.slice(0, 200), limit: 100 } });
      const topics = new Map();
      for (const item of answer.items) {
        const has = item.rank <= FIRST || item.topic_given_word >= MUCH;
        if (has && !topics.has(item.topic)) topics.set(item.topic, item);
      }
      found = { query, topics };
    } catch {
      return;
    }
    if (!left) draw();
  }

  let begun = false;
  return {
    element: node,
    update() {
      if (live.report !== null) {
        if (!begun) {
          begun = true;
          slider.begin(live.report.relevance);
          if (kept.search) askForWords();
          return sort();
        }
        extend();
      }
      draw();
    },
    leave() {
      left = true;
      clearTimeout(searching);
    },
  };
}

// Put nodes in order and move as few as possible, so that focus and transitions stay.
function arrange(list, nodes) {
  const wanted = new Set(nodes);
  for (const child of [...list.children]) if (!wanted.has(child)) child.remove();
  nodes.forEach((node, i) => {
    if (list.children[i] !== node) list.insertBefore(node, list.children[i] ?? null);
  });
}

// One card; update() changes what is different.
function topicTile(id) {
  const label = element("a", { href: topicAddress(id), "data-topic": id });
  const share = element("span", { class: "share" });
  const sign = element("span", { class: "sign" });
  const bar = element("div", { class: "within" });
  const words = element("p", { class: "card-words" });
  const place = element("p", { class: "note one-line place" });
  const line = element("span", { class: "line-of" });
  const trend = element("span", { class: "badge" });
  const documents = element("ul", { class: "card-documents" });
  const node = element(
    "li",
    { class: "panel topic-tile" },
    element("h3", {}, label),
    element("p", { class: "sizes" }, share, sign),
    element("div", { class: "track", "aria-hidden": "true" }, bar),
    words,
    element("p", { class: "trend-of" }, line, trend),
    documents,
    place,
  );
  let drawnFrom = null;

  function update(live, topic, lambda, most, found) {
    node.classList.toggle("gone", topic === null);
    if (topic === null) {
      put(sign, "gone from the model");
      return;
    }
    put(label, topic.label);
    label.title = topic.label;
    put(share, percent(topic.share, topic.share < 0.001 ? null : 1));
    const [text, kind] = changed(live, topic);
    put(sign, text);
    sign.className = `sign ${kind}`;
    bar.style.width = `${((100 * topic.share) / most).toFixed(1)}%`;
    put(words, mostRelevant(live.report, topic, lambda, WORDS).map(({ word }) => word).join(", "));
    put(place, found ? `“${found.word}”: word ${count(found.rank)} here, ${percent(found.topic_given_word, 0)} of its uses` : "");
    if (drawnFrom === live.report) return;
    drawnFrom = live.report;
    const over = live.report.time && live.report.time.edges.length > 2;
    if (over) line.replaceChildren(sparkline(topic.shares, 110, 24));
    if (topic.trend) {
      put(trend, trendSign(topic.trend.kind).join(" ").trim());
      trend.className = `badge ${trendSign(topic.trend.kind)[1]}`;
    }
    trend.hidden = !topic.trend;
    const best = (topic.documents ?? []).slice(0, DOCUMENTS).filter((one) => one.key !== null);
    // The same documents stay the same nodes.
    if (documents.dataset.keys !== JSON.stringify(best.map((one) => one.key))) {
      documents.dataset.keys = JSON.stringify(best.map((one) => one.key));
      documents.replaceChildren(
        ...best.map((one) => {
          const title = visible(one.title || one.key);
          return element("li", { class: "one-line" }, element("a", { href: documentAddress(one.key), title }, title));
        }),
      );
    }
  }

  return { element: node, update };
}

function changed(live, topic) {
  const before = live.opened.shares.get(topic.topic);
  if (before === undefined) return ["✦ appeared", "new"];
  const difference = topic.share - before;
  if (Math.abs(difference) < LEAST) return ["", ""];
  return difference > 0 ? [`▲ ${points(difference)}`, "rising"] : [`▼ ${points(difference)}`, "fading"];
}

function put(node, text) {
  if (node.textContent !== text) node.textContent = text;
}
