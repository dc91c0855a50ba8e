// Delete a document, after asking once more.

import { element } from "../dom.js";
import { askDocument } from "./api.js";
import { panel } from "./panel.js";

export function deletion(id) {
  const said = element("p", { role: "status", class: "note" });
  const ask = element("button", { type: "button", class: "delete", onclick: () => show(question) }, "Delete this document…");
  const yes = element("button", { type: "button", class: "danger", onclick: remove }, "Delete for good");
  const no = element("button", { type: "button", onclick: () => show(ask) }, "Keep it");
  const question = element(
    "div",
    { role: "group", "aria-label": "Delete this document?" },
    element("p", {}, "Its words and its text go from the store. What the model has learned from it stays until it is trained anew."),
    element("p", { class: "choices" }, yes, no),
  );
  const place = element("div", { class: "deletion" }, ask);
  const node = panel("Delete", "of-deletion", place, said);

  function show(what) {
    place.replaceChildren(what);
    (what === question ? no : ask).focus();
  }

  async function remove() {
    yes.disabled = true;
    said.textContent = "";
    try {
      await askDocument(id, "DELETE");
      place.replaceChildren();
      said.textContent = "The document was deleted.";
    } catch (error) {
      said.textContent = error.status === 404 ? "The document is gone already." : error.message;
      yes.disabled = false;
    }
  }

  return node;
}
