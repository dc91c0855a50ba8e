// Topics of a text, and its words coloured by them.

import { element, visible } from "../dom.js";
import { count, counted, percent } from "../numbers.js";
import { topicAddress } from "./panel.js";

// Topics with a colour of their own; words of others are underlined.
const COLOURS = 8;
const MOST_PIECES = 20000;
const MOST_WORDS = 200;
// Proportion of the smallest topic that is listed beside the first.
const LEAST = 0.001;

// colouredText({topics, segments, words}) is a list of topics, of which one can be pointed out, and
// the text; without segments the words with their counts.
export function colouredText({ topics, segments, words }) {
  const coloured = topics.slice(0, COLOURS).filter((topic, i) => i === 0 || topic.proportion >= LEAST);
  const colour = new Map(coloured.map((topic, i) => [topic.topic, i]));
  const labels = new Map(topics.map((topic) => [topic.topic, topic.label]));
  const body = segments === null ? counts(words ?? [], colour, labels) : text(segments, colour, labels);
  const list = element("ol", { class: "legend" }, ...coloured.map((topic, i) => legend(topic, i, point)));
  let pointed = null;

  function point(topic) {
    pointed = pointed === topic ? null : topic;
    for (const button of list.querySelectorAll("button")) button.setAttribute("aria-pressed", String(Number(button.dataset.topic) === pointed));
    body.classList.toggle("one-only", pointed !== null);
    for (const word of body.querySelectorAll("[data-topic]")) word.classList.toggle("pointed", Number(word.dataset.topic) === pointed);
  }

  const rest = topics.slice(coloured.length).reduce((sum, topic) => sum + topic.proportion, 0);
  const others = element(
    "p",
    { class: "note" },
    rest > 0.0005 ? `Others have ${percent(rest)}. ` : "",
    "Press a topic to point out its words.",
  );
  return {
    legend: topics.length ? element("div", {}, list, others) : element("p", { class: "note" }, "No word that the model knows."),
    body,
    byTopic: wordsByTopic(words, topics),
  };
}

function legend(topic, i, point) {
  return element(
    "li",
    {},
    element("span", { class: "proportion" }, percent(topic.proportion)),
    element(
      "div",
      { class: "of-legend" },
      element(
        "button",
        { type: "button", "aria-pressed": "false", "data-topic": topic.topic, title: `Point out the words of topic ${topic.topic}`, onclick: () => point(topic.topic) },
        element("span", { class: `swatch w c${i}`, "aria-hidden": "true" }),
        element("span", { class: "name" }, topic.label),
      ),
      element("div", { class: "track", "aria-hidden": "true" }, element("div", { class: "within", css: { width: `${(100 * topic.proportion).toFixed(1)}%` } })),
    ),
    element("a", { href: topicAddress(topic.topic), "aria-label": `Open topic ${topic.topic}: ${topic.label}` }, "Open"),
  );
}

function marked(shown, topic, colour, labels) {
  const place = colour.get(topic);
  const kind = place === undefined ? "w other" : `w c${place}`;
  return element("span", { class: kind, "data-topic": topic, title: `Topic ${topic}${labels.has(topic) ? `: ${labels.get(topic)}` : ""}` }, shown);
}

function text(segments, colour, labels) {
  const pieces = [];
  for (const [i, { text: whole, topic }] of segments.slice(0, MOST_PIECES).entries()) {
    // Lines without anything before the first word are not worth their room.
    const shown = i === 0 ? whole.replace(/^(?:[^\S\n]*\n)+/, "") : whole;
    pieces.push(topic === null || topic === undefined ? visible(shown) : marked(visible(shown), topic, colour, labels));
  }
  if (segments.length > MOST_PIECES) pieces.push(element("em", {}, " The rest is too long to be shown here."));
  return element("div", { class: "text", dir: "auto", tabindex: 0, role: "region", "aria-label": "Text with its words by topic" }, ...pieces);
}

function counts(words, colour, labels) {
  const shown = words.slice(0, MOST_WORDS).map((found) => {
    const word = found.topic === null ? found.word : marked(found.word, found.topic, colour, labels);
    return element("li", {}, element("bdi", {}, word), found.count === 1 ? null : element("span", { class: "note" }, ` × ${count(found.count)}`));
  });
  if (words.length > MOST_WORDS) shown.push(element("li", { class: "note" }, `and ${counted(words.length - MOST_WORDS, "other word")}`));
  return element("ul", { class: "word-counts" }, ...shown);
}

// The same without colours, for those who do not see them.
function wordsByTopic(words, topics) {
  const groups = new Map(topics.map((topic) => [topic.topic, []]));
  const unknown = [];
  for (const found of words ?? []) (groups.get(found.topic) ?? unknown).push(found);
  const write = (found) => found.map((one) => (one.count === 1 ? one.word : `${one.word} (${count(one.count)})`)).join(", ");
  const rows = topics.filter((topic) => groups.get(topic.topic).length).map((topic) => [topic.label, groups.get(topic.topic)]);
  if (unknown.length) rows.push(["Others, or not known to the model", unknown]);
  return element(
    "details",
    { class: "by-topic" },
    element("summary", {}, "Words by topic, as a list"),
    element("dl", {}, ...rows.flatMap(([label, found]) => [element("dt", {}, label), element("dd", {}, write(found.slice(0, MOST_WORDS)))])),
  );
}
