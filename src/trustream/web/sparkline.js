// A line of shares without axes, for lists and tables.

import { drawn } from "./dom.js";
import { runs } from "./timeline.js";

export function sparkline(shares, width = 84, height = 22) {
  const most = Math.max(...shares.filter((share) => share !== null), 1e-9);
  const x = (i) => 2 + ((width - 4) * i) / Math.max(shares.length - 1, 1);
  const y = (share) => height - 3 - ((height - 6) * share) / most;
  const lines = runs(shares).map((run) =>
    run.length === 1
      ? drawn("circle", { class: "dot", cx: x(run[0]), cy: y(shares[run[0]]), r: 1.5 })
      : drawn("polyline", { class: "line", points: run.map((i) => `${x(i)},${y(shares[i])}`).join(" ") }),
  );
  return drawn("svg", { class: "sparkline", width, height, "aria-hidden": "true" }, ...lines);
}
