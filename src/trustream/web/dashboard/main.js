// What runs on the page: asks for a token where one is needed, and shows one view at a time.

import { element } from "../dom.js";
import { ask, onRefused } from "./api.js";
import { banner } from "./banner.js";
import { changesView } from "./changes.js";
import { documentView } from "./document.js";
import { liveState } from "./live.js";
import { loginView } from "./login.js";
import { mapView } from "./explore.js";
import { noticeBar } from "./notices.js";
import { overviewView } from "./overview.js";
import { textView } from "./text.js";
import { topicView } from "./topic.js";

// Addresses, the name of each in the bar, and what shows it.
const VIEWS = [
  { path: /^\/$/, name: "Overview", href: "#/", make: overviewView },
  { path: /^\/map$/, name: "Map and trends", href: "#/map", make: mapView },
  { path: /^\/changes$/, name: "What changed", href: "#/changes", make: changesView },
  { path: /^\/text$/, name: "Try a text", href: "#/text", make: textView },
  { path: /^\/topics\/(\d+)$/, make: topicView },
  { path: /^\/documents\/(.+)$/, make: documentView },
];

const main = document.getElementById("main");
const scrolled = new Map();
let live = null;
let shown = null;
let place = null;
let followed = false;
let top = null;

async function begin() {
  let session;
  try {
    session = await ask("session");
  } catch (error) {
    return fail(error);
  }
  if (session.required && !session.scopes.includes("read")) return logIn(session);
  live = liveState();
  top = banner(document.getElementById("banner"), live, VIEWS.filter((view) => view.name), session, logOut);
  noticeBar(document.getElementById("notices"), live);
  try {
    await live.start();
  } catch (error) {
    if (error.status !== 401) fail(error);
    return;
  }
  document.getElementById("about").textContent =
    `trustream ${live.status.service.version}. Times are UTC. This page loads nothing from elsewhere.`;
}

// The service does not answer yet: say so, and try again.
function fail(error) {
  if (live !== null) live.stop();
  live = null;
  main.replaceChildren(element("h1", { tabindex: -1 }, "trustream"), element("p", { role: "status" }, `${error.message} Trying again…`));
  setTimeout(restart, 2000);
}

function end() {
  shown?.leave?.();
  shown = null;
  live?.stop();
  live = null;
  for (const id of ["banner", "about", "notices"]) document.getElementById(id).replaceChildren();
}

function logIn(session) {
  end();
  document.title = "Log in – trustream";
  main.replaceChildren(loginView(session, restart, logOut));
  main.querySelector("input, button")?.focus();
}

async function restart() {
  await begin();
  if (live !== null) show(true);
}

async function logOut() {
  await ask("session", { method: "DELETE" });
  logIn(await ask("session"));
}

function show(focus) {
  if (live === null) return;
  const path = location.hash.startsWith("#/") ? location.hash.slice(1) : "/";
  if (shown !== null && place !== null) scrolled.set(place, scrollY);
  shown?.leave?.();
  const view = VIEWS.find((known) => known.path.test(path));
  shown = view ? view.make(live, decoded(view.path.exec(path)[1]), { title }) : missing();
  place = path;
  main.replaceChildren(shown.element);
  top.mark(view?.href ?? null);
  title(shown.title);
  // Where the reader was, when coming back; the beginning of what is new.
  scrollTo(0, followed ? 0 : (scrolled.get(path) ?? 0));
  if (focus) main.querySelector("h1")?.focus({ preventScroll: true });
  followed = false;
}

function title(text) {
  document.title = `${text} – ${live?.status?.store.name ?? "trustream"}`;
}

function missing() {
  const back = element("p", {}, element("a", { href: "#/" }, "To the overview"));
  return { title: "Not found", element: element("div", {}, element("h1", { tabindex: -1 }, "There is no such page"), back) };
}

function decoded(text) {
  try {
    return text === undefined ? null : decodeURIComponent(text);
  } catch {
    return text;
  }
}

addEventListener("hashchange", () => {
  // The link to the content moves the focus and nothing else.
  if (location.hash !== "#main") show(true);
});
addEventListener("click", (event) => {
  if (event.target.closest?.('a[href^="#/"]')) followed = true;
});
history.scrollRestoration = "manual";
onRefused(async () => {
  if (live !== null) logIn(await ask("session"));
});
await begin();
show(false);
