// The slider of relevance, between words of a topic only and frequent words.

import { element } from "./dom.js";

let sliders = 0;

// relevanceSlider(onInput) has an element, value() and begin(relevance), with the relevance of a report.
export function relevanceSlider(onInput) {
  const id = `relevance-${sliders++}`;
  const input = element("input", { id, type: "range", min: 0, max: 1, step: 0.05, value: 0.6, oninput: () => changed() });
  const output = element("output", { for: id });
  const node = element(
    "div",
    { class: "slider" },
    element("label", { for: id }, "Relevance λ = ", output),
    element("div", { class: "ends" }, element("span", {}, "specific"), input, element("span", {}, "frequent")),
  );

  function say() {
    const value = Number(input.value).toFixed(2);
    output.textContent = value;
    input.setAttribute("aria-valuetext", `${value}, from 0, words of this topic only, to 1, frequent words`);
  }

  function changed() {
    say();
    onInput();
  }

  say();
  return {
    element: node,
    value: () => Number(input.value),
    begin({ steps, start }) {
      input.setAttribute("step", String(1 / steps));
      input.value = String(start);
      say();
    },
  };
}
