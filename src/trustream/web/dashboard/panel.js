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

// Call a function now and whenever one of these changes, until the view is left.
export function following(live, names, draw) {
  const ends = names.map((name) => live.on(name, draw));
  return () => ends.forEach((end) => end());
}
