// The figures of a stream that are read first.

import { drawn, element } from "../dom.js";
import { count } from "../numbers.js";
import { nats, perSecond, perplexity, trainerText } from "./figures.js";

const MINUTES = 5;

export function figureTiles(live) {
  const tiles = {
    documents: tile("Documents"),
    tokens: tile("Tokens"),
    rate: tile("Arriving"),
    model: tile("Topics"),
    score: tile("Held-out score"),
  };
  const line = element("div", { class: "rate-line" });
  tiles.rate.content.append(line);
  const node = element("dl", { class: "tiles" }, ...Object.values(tiles).map((found) => found.element));

  return {
    element: node,
    update() {
      const { status, step } = live;
      if (status === null) return;
      const { totals, rate, model } = status;
      tiles.documents.show(count(totals.documents), `${count(totals.held_out)} held out to score`);
      tiles.tokens.show(count(totals.tokens), `${count(totals.words)} different words`);
      tiles.rate.show(`${perSecond(rate.documents)}\u00a0/ s`, `${perSecond(rate.tokens)} tokens a second`);
      line.replaceChildren(rateLine(live.rates));
      const n_steps = Math.max(step?.n_steps ?? 0, model?.n_steps ?? 0);
      tiles.model.show(model ? count(model.n_topics) : "–", `${trainerText(status)}${n_steps ? `; step ${count(n_steps)}` : ""}`);
      const score = step?.last_score ?? model?.last_score ?? null;
      tiles.score.show(
        score === null ? "–" : nats(score),
        score === null ? "nats per word; none yet" : `nats per word; perplexity ${perplexity(score)}: as unsure as among so many equally likely words`,
      );
    },
  };
}

function tile(name) {
  const value = element("span", { class: "value" }, "–");
  const note = element("span", { class: "note" }, "\u00a0");
  const content = element("dd", {}, value, note);
  return {
    element: element("div", { class: "panel tile" }, element("dt", {}, name), content),
    content,
    show(given, said) {
      if (value.textContent !== given) value.textContent = given;
      if (note.textContent !== said) note.textContent = said;
    },
  };
}

// The rate of the last minutes without axes.
function rateLine(rates) {
  const [width, height] = [120, 26];
  const now = Date.now() / 1000;
  const last = rates.filter((point) => point.time > now - 60 * MINUTES);
  const most = Math.max(...last.map((point) => point.documents), 1e-9);
  const x = (time) => 1 + ((width - 2) * (time - now + 60 * MINUTES)) / (60 * MINUTES);
  const y = (value) => height - 2 - ((height - 4) * value) / most;
  const points = last.map((point) => `${x(point.time).toFixed(1)},${y(point.documents).toFixed(1)}`).join(" ");
  return drawn("svg", { class: "sparkline", width, height, "aria-hidden": "true" }, drawn("polyline", { class: "line", points }));
}
