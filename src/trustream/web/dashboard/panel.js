// Parts that views share.

import { element } from "../dom.js";
import { encoded } from "./api.js";

export function panel(title, name, ...children) {
  return element(
    "section",
    { class: `panel ${name}`.trim(), "aria-label": title },
    element("h2", { class: "panel-title" }, title),
    ...children,
  );
}

export function heading(text) {
  return element("h1", { tabindex: -1 }, text);
}

export const topicAddress = (topic) => `#/topics/${topic}`;
export const documentAddress = (key) => `#/documents/${encoded(key)}`;

// What to say where there are no topics yet.
export function withoutTopics(live) {
  if (live.status?.model) return "The topics are being computed; they appear here by themselves.";
  return "There is no model yet. Start a trainer (trustream train, or trustream serve --train) and add documents; topics appear here by themselves.";
}

// Call a function at most once in so many milliseconds, and not while nobody looks.
export function paced(draw, pause) {
  let waiting = null;
  let last = 0;
  const run = () => {
    waiting = null;
    last = Date.now();
    if (!document.hidden) draw();
    else addEventListener("visibilitychange", run, { once: true });
  };
  return () => {
    waiting ??= setTimeout(run, Math.max(0, last + pause - Date.now()));
  };
}

// Call a function whenever one of these changes, until the view is left.
export function following(live, names, draw) {
  const ends = names.map((name) => live.on(name, draw));
  return () => ends.forEach((end) => end());
}
