// The documents that are most about a topic.

import { element, visible } from "./dom.js";
import { counted, percent } from "./numbers.js";

// documentList() has an element and update(data, topic). With `address`, which makes an address of a
// key, titles are links.
export function documentList({ address = null } = {}) {
  const list = element("ol", { class: "documents" });
  const node = element("div", {}, list);
  return {
    element: node,
    update(data, topic) {
      const found = topic.documents.map((found) => entry(found, address));
      list.replaceChildren(...(found.length ? found : [element("li", { class: "note" }, "No document.")]));
    },
  };
}

function entry({ row, key, title, excerpt, proportion, n_tokens }, address) {
  const named = key ?? `document ${row}`;
  const details = [counted(n_tokens, "known word")];
  if (title) details.unshift(visible(named));
  const heading = visible(title || named);
  const linked = address && key !== null ? element("a", { href: address(key) }, heading) : heading;
  return element(
    "li",
    {},
    element("div", { class: "proportion" }, percent(proportion, 0)),
    element(
      "div",
      { class: "document" },
      element("div", { class: "title" }, linked),
      excerpt && excerpt !== title ? element("div", { class: "excerpt" }, visible(excerpt)) : null,
      element("div", { class: "note" }, details.join(" · ")),
      element(
        "div",
        { class: "track", "aria-hidden": "true" },
        element("div", { class: "within", css: { width: `${(100 * proportion).toFixed(1)}%` } }),
      ),
    ),
  );
}
