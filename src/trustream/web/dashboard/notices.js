// Says at the foot of the window when the service is cut off, so that nothing else moves.

import { element } from "../dom.js";
import { moment } from "./figures.js";

const SECONDS = 4;

export function noticeBar(node, live) {
  const bar = element("div", { class: "notice", role: "status" });
  let before = live.connection.state;
  let ending = null;
  node.replaceChildren(bar);

  function end() {
    bar.className = "notice";
    bar.textContent = "";
  }

  live.on("connection", () => {
    const { state, since } = live.connection;
    if (state === before) return;
    clearTimeout(ending);
    if (state === "cut") {
      bar.textContent = `The service has not answered since ${moment(since)}. What you see may be old; this page tries again by itself.`;
      bar.className = "notice shown cut";
    } else if (before === "cut") {
      bar.textContent = "The service answers again. The page is live.";
      bar.className = "notice shown";
      ending = setTimeout(end, 1000 * SECONDS);
    }
    before = state;
  });
}
