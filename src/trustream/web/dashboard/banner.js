// The bar at the top: the store, the ways to go, whether the page is live, and who is logged in.

import { element } from "../dom.js";
import { moment } from "./figures.js";

const TEXTS = { live: "Live", connecting: "Connecting…", cut: "Cut off", paused: "Paused" };

// banner(node, live, views, session, logOut) fills the node; mark(href) says which view is shown.
export function banner(node, live, views, session, logOut) {
  const name = element("span", { class: "store" });
  const dot = element("span", { class: "dot-sign", "aria-hidden": "true" });
  const text = element("span", {});
  const when = element("span", { class: "when" });
  const connection = element("p", { class: "connection" }, dot, text, when);
  const links = views.map((view) => element("a", { href: view.href }, view.name));
  const out = session.required
    ? element("button", { type: "button", class: "log-out", onclick: logOut, title: `Logged in by the token ${session.name}` }, "Log out")
    : null;
  node.replaceChildren(
    element("a", { class: "brand", href: "#/" }, element("b", {}, "trustream"), " ", name),
    element("nav", { "aria-label": "Main" }, ...links),
    element("div", { class: "state" }, connection, out),
  );

  function draw() {
    const { state, since } = live.connection;
    connection.dataset.state = state;
    text.textContent = TEXTS[state];
    when.textContent = state === "cut" ? ` since ${moment(since)}` : "";
  }

  live.on("connection", draw);
  live.on("totals", () => (name.textContent = live.status.store.name));
  draw();
  return {
    mark(href) {
      for (const link of links) {
        if (link.getAttribute("href") === href) link.setAttribute("aria-current", "page");
        else link.removeAttribute("aria-current");
      }
    },
  };
}
