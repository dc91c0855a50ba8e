// Paste a text and see its topics; nothing is stored.

import { element } from "../dom.js";
import { count, percent } from "../numbers.js";
import { ask } from "./api.js";
import { colouredText } from "./coloured.js";
import { nearDocuments } from "./near.js";
import { heading, panel } from "./panel.js";

const MOST = 100000;

// Stays from one visit to the next.
let written = "";

export function textView(live) {
  const area = element("textarea", { id: "text", rows: 8, maxlength: MOST, dir: "auto", "aria-describedby": "text-help", oninput: () => (written = area.value), onkeydown: onKey });
  area.value = written;
  const button = element("button", { type: "submit", class: "primary" }, "Find topics");
  const clear = element("button", { type: "button", onclick: onClear }, "Clear");
  const said = element("p", { role: "status", class: "said" });
  const result = element("div", {});
  const node = element(
    "div",
    {},
    heading("Try a text"),
    element(
      "form",
      { class: "panel", onsubmit: submit },
      element("label", { for: "text" }, "Text"),
      area,
      element("p", { id: "text-help", class: "note" }, `Up to ${count(MOST)} characters. It goes to this service only, and is not stored. Ctrl and Enter find its topics.`),
      element("div", { class: "together" }, button, clear),
    ),
    said,
    result,
  );

  function onKey(event) {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit(event);
  }

  function onClear() {
    area.value = written = "";
    said.textContent = "";
    result.replaceChildren();
    area.focus();
  }

  async function submit(event) {
    event.preventDefault();
    const text = area.value;
    if (!text.trim()) {
      said.textContent = "There is no text yet.";
      area.focus();
      return;
    }
    if (!live.status.model) {
      said.textContent = "There is no model yet.";
      return;
    }
    button.disabled = true;
    said.textContent = "Looking…";
    try {
      const answer = await ask("infer", { body: { texts: [text], top: 20, words: true } });
      show(answer.documents[0], text);
    } catch (error) {
      said.textContent = error.message;
    } finally {
      button.disabled = false;
    }
  }

  function show(found, text) {
    const first = found.topics[0];
    said.textContent = first
      ? `Mostly about: ${first.label} (${percent(first.proportion)}). The model knows ${count(found.n_known)} of ${count(found.n_tokens)} words.`
      : "The model knows none of its words.";
    const parts = colouredText(found);
    result.replaceChildren(
      element(
        "div",
        { class: "panels reading" },
        panel("Words by topic", "of-text", parts.body, parts.byTopic),
        element("div", { class: "stack" }, panel("Topics", "of-legend-panel", parts.legend), first ? nearDocuments(live, { text }) : null),
      ),
    );
  }

  return { title: "Try a text", element: node };
}
