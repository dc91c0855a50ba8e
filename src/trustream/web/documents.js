// The documents that are most about a topic.

import { element } from "./dom.js";
import { counted, percent } from "./numbers.js";

// documentList() has an element and update(data, topic).
export function documentList() {
  const list = element("ol", { class: "documents" });
  const node = element("div", {}, list);
  return {
    element: node,
    update(data, topic) {
      const found = topic.documents.map(entry);
      list.replaceChildren(...(found.length ? found : [element("li", { class: "note" }, "No document.")]));
    },
  };
}

function entry({ row, key, title, proportion, n_tokens }) {
  const named = key ?? `document ${row}`;
  const details = [counted(n_tokens, "known word")];
  if (title) details.unshift(named);
  return element(
    "li",
    {},
    element("div", { class: "proportion" }, percent(proportion, 0)),
    element(
      "div",
      { class: "document" },
      element("div", { class: "title" }, title || named),
      element("div", { class: "note" }, details.join(" · ")),
      element(
        "div",
        { class: "track", "aria-hidden": "true" },
        element("div", { class: "within", css: { width: `${(100 * proportion).toFixed(1)}%` } }),
      ),
    ),
  );
}
