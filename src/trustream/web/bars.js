// The words of a topic as bars, with the slider of relevance.

import { element } from "./dom.js";
import { percent } from "./numbers.js";
import { mostRelevant } from "./relevance.js";
import { relevanceSlider } from "./slider.js";

// wordBars() has an element and update(data, topic); the position of the slider stays.
export function wordBars() {
  const slider = relevanceSlider(() => draw());
  const rows = element("tbody");
  const node = element(
    "div",
    { class: "words" },
    slider.element,
    element(
      "table",
      { class: "bars" },
      element("caption", { class: "hidden-text" }, "Words of the topic, the most relevant first"),
      element(
        "thead",
        {},
        element(
          "tr",
          {},
          element("th", { scope: "col" }, "Word"),
          element("th", { scope: "col", class: "bar" }, element("span", { class: "hidden-text" }, "How frequent")),
          element("th", { scope: "col", class: "figure", title: "Probability of the word in this topic" }, "In topic"),
          element("th", { scope: "col", class: "figure", title: "Of all uses of the word, those in this topic" }, "Of its uses"),
        ),
      ),
      rows,
    ),
    element(
      "p",
      { class: "note key" },
      element("span", { class: "swatch within" }), "uses in this topic ",
      element("span", { class: "swatch total" }), "uses in all topics",
    ),
  );
  let now = null;

  function draw() {
    const found = mostRelevant(now.data, now.topic, slider.value());
    const most = Math.max(...found.map((word) => word.frequency));
    rows.replaceChildren(...found.map((word) => wordRow(word, now.topic.weight_share, most)));
  }

  return {
    element: node,
    update(data, topic) {
      if (now === null) slider.begin(data.relevance);
      now = { data, topic };
      draw();
    },
  };
}

function wordRow({ word, probability, frequency }, share, most) {
  const within = Math.min(share * probability, frequency);
  const width = (value) => ({ width: `${((100 * value) / most).toFixed(2)}%` });
  return element(
    "tr",
    {},
    element("th", { scope: "row", class: "word", title: word }, word),
    element(
      "td",
      { class: "bar" },
      element(
        "div",
        { class: "track", "aria-hidden": "true" },
        element("div", { class: "total", css: width(frequency) }),
        element("div", { class: "within", css: width(within) }),
      ),
    ),
    element("td", { class: "figure" }, percent(probability, 2)),
    element("td", { class: "figure" }, percent(within / frequency, 0)),
  );
}
