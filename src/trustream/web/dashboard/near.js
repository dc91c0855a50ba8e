// Documents whose topics are alike.

import { element, visible } from "../dom.js";
import { count } from "../numbers.js";
import { ask } from "./api.js";
import { documentAddress, panel } from "./panel.js";

const SHOWN = 6;

// A panel that fills by itself: nearDocuments(live, {id}) or nearDocuments(live, {text}).
export function nearDocuments(live, { id = null, text = null }) {
  const list = element("ol", { class: "near" });
  const note = element("p", { class: "note" }, "\u00a0");
  const node = panel("Documents with similar topics", "of-near", list, note);
  load();

  async function load() {
    if (!live.status.report) {
      note.textContent = "They are being computed: come back in a moment.";
      return;
    }
    try {
      const found =
        id === null
          ? await ask("nearest", { body: { text, limit: SHOWN } })
          : await ask("nearest", { query: { id, limit: SHOWN } });
      list.replaceChildren(...found.items.map(near));
      note.textContent = found.items.length
        ? `Nearest of ${count(found.n_searched)} documents${found.n_searched < found.n_stored ? `, a sample of ${count(found.n_stored)}` : ""}; 100 has the same topics.`
        : "None.";
    } catch (error) {
      note.textContent = error.message;
    }
  }

  return node;
}

function near(found) {
  const title = visible(found.title || found.id);
  const excerpt = found.excerpt && found.excerpt !== found.title ? visible(found.excerpt) : null;
  return element(
    "li",
    {},
    element("span", { class: "proportion", title: "Similarity, from 0 to 100" }, (100 * found.similarity).toFixed(0)),
    element(
      "div",
      { class: "document" },
      element("a", { class: "title", href: documentAddress(found.id) }, title),
      excerpt ? element("div", { class: "excerpt" }, excerpt) : null,
    ),
  );
}
