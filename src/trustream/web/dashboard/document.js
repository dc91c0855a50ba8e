// The page of one document: its topics, its words coloured by topic, and a way to delete it.

import { element, visible } from "../dom.js";
import { count, date } from "../numbers.js";
import { askDocument } from "./api.js";
import { colouredText } from "./coloured.js";
import { deletion } from "./deletion.js";
import { nearDocuments } from "./near.js";
import { heading, panel } from "./panel.js";

export function documentView(live, id, { title }) {
  const node = element("div", { class: "document-view" });
  const note = element("p", { role: "status" }, "Loading…");
  node.append(element("p", { class: "way" }, element("a", { href: "#/" }, "Overview")), heading(visible(id)), note);
  let left = false;
  load();

  async function load() {
    let found;
    try {
      found = await askDocument(id);
    } catch (error) {
      if (!left) note.textContent = error.status === 404 ? "There is no such document." : error.message;
      return;
    }
    if (!left) show(found);
  }

  function show(found) {
    const named = visible(found.title || found.id);
    const focused = document.activeElement?.tagName === "H1";
    const cut = live.status.store.keep_text && found.text !== null && [...found.text].length >= live.status.store.keep_text;
    const parts = colouredText(found);
    const top = heading(named);
    const facts = element("p", { class: "note" }, element("bdi", {}, visible(found.id)), ` · ${date(found.time, 60)}${found.arrived_untimed ? " (arrived)" : ""} · ${count(found.n_tokens)} words`);
    const body =
      found.segments !== null
        ? [parts.body, parts.byTopic]
        : found.text !== null
          ? [element("div", { class: "text", dir: "auto", tabindex: 0, role: "region", "aria-label": "Text" }, visible(found.text)), parts.byTopic]
          : [element("p", { class: "note" }, "The store keeps no text of this document: these are its words, the most frequent first."), parts.body, parts.byTopic];
    if (cut) body.push(element("p", { class: "note" }, `The store keeps the first ${count(live.status.store.keep_text)} characters.`));
    const side = found.version === null ? element("p", { class: "note" }, "There is no model yet.") : parts.legend;
    node.replaceChildren(
      node.firstChild,
      top,
      facts,
      element(
        "div",
        { class: "panels reading" },
        panel(found.text === null ? "Words" : "Text", "of-text", ...body),
        element("div", { class: "stack" }, panel("Topics", "of-legend-panel", side), found.version === null ? null : nearDocuments(live, { id: found.id }), mayDelete() ? deletion(found.id) : null),
      ),
    );
    if (focused) top.focus({ preventScroll: true });
    title(named);
  }

  function mayDelete() {
    return live.status.access.scopes.includes("admin");
  }

  return { title: visible(id), element: node, leave: () => (left = true) };
}
