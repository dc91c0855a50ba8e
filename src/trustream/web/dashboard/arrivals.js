// The last documents to arrive.

import { element, visible } from "../dom.js";
import { count, date } from "../numbers.js";
import { ask } from "./api.js";
import { documentAddress } from "./panel.js";

const SHOWN = 8;
const PAUSE = 1000;

// arrivalList(live) has an element, update() and leave().
export function arrivalList(live) {
  const list = element("ol", { class: "arrivals" });
  const note = element("p", { class: "note" }, "\u00a0");
  const node = element("div", {}, list, note);
  let sequence = null;
  let waiting = null;
  let known = null;
  let left = false;

  function busy() {
    return list.matches(":hover, :focus-within");
  }

  async function load() {
    waiting = null;
    if (left) return;
    if (document.hidden) return addEventListener("visibilitychange", load, { once: true });
    // Nothing moves away under a pointer or a focus.
    if (busy()) {
      note.textContent = "Waits while you point at it.";
      waiting = setTimeout(load, PAUSE);
      return;
    }
    const now = live.status.totals.sequence;
    try {
      const found = await ask("documents", { query: { limit: SHOWN } });
      if (left || busy()) return;
      sequence = now;
      draw(found.items);
    } catch {
      // The connection says what is wrong; the next event asks again.
    }
  }

  function draw(items) {
    const before = known;
    known = new Set(items.map((item) => `${item.number}`));
    const rows = items.map((item) => arrival(item, before !== null && !before.has(`${item.number}`)));
    list.replaceChildren(...rows);
    note.textContent = items.length ? "The newest is first." : "No documents yet.";
  }

  return {
    element: node,
    update() {
      if (live.status === null || live.status.totals.sequence === sequence || waiting !== null) return;
      waiting = setTimeout(load, known === null ? 0 : PAUSE);
    },
    leave() {
      left = true;
      clearTimeout(waiting);
    },
  };
}

function arrival(item, fresh) {
  const title = visible(item.title || item.excerpt || item.id);
  return element(
    "li",
    { class: fresh ? "fresh" : null },
    element("a", { href: documentAddress(item.id), class: "title", title }, title),
    element("span", { class: "note one-line" }, `${date(item.time, 60)} · ${count(item.n_tokens)} words · `, element("bdi", {}, visible(item.id))),
  );
}
