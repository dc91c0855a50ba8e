// The topic that is chosen: what it is called and how large it is, and ways to the next one.

import { element } from "./dom.js";
import { count, percent, trendSign } from "./numbers.js";

// topicCard({onSelect}) has an element and update(data, topic). `level` is that of the heading.
export function topicCard({ onSelect, level = 2 }) {
  const heading = element(`h${level}`, { class: "topic-label", id: "chosen-topic", tabindex: level === 1 ? -1 : null });
  const figures = element("dl", { class: "figures" });
  const choice = element("select", { "aria-label": "Topic", onchange: () => onSelect(Number(choice.value)) });
  const step = (sign, name, by) =>
    element("button", { type: "button", "aria-label": name, title: name, onclick: () => go(by) }, sign);
  const node = element(
    "div",
    { class: "card" },
    element("div", { class: "chooser" }, step("←", "Larger topic", -1), choice, step("→", "Smaller topic", 1)),
    heading,
    figures,
  );
  let now = null;

  function go(by) {
    const ids = now.data.topics.map((topic) => topic.topic);
    onSelect(ids[(ids.indexOf(now.topic.topic) + by + ids.length) % ids.length]);
  }

  function listed({ topic }) {
    return [...choice.options].some((option) => Number(option.value) === topic);
  }

  return {
    element: node,
    update(data, topic) {
      // A list that is open is not changed under the pointer.
      if (now === null || (now.data !== data && document.activeElement !== choice) || !listed(topic)) {
        choice.replaceChildren(
          ...data.topics.map((one) =>
            element("option", { value: one.topic }, `${one.topic}: ${one.label} (${percent(one.share)})`),
          ),
        );
      }
      now = { data, topic };
      choice.value = String(topic.topic);
      heading.textContent = topic.label;
      const known = [
        ["Topic", String(topic.topic), "Its id, which stays when other topics are merged"],
        [
          "Share", percent(topic.share, 2),
          data.n_documents === null ? "Of the topics' weights" : "Of all tokens of the documents",
        ],
      ];
      if (topic.n_documents !== null) {
        known.push(["Main topic of", count(topic.n_documents), "Documents whose largest topic it is"]);
        const least = percent(data.threshold, 0);
        known.push([`At least ${least} of`, count(topic.n_documents_with), `Documents of whose tokens it has at least ${least}`]);
      }
      if (topic.coherence !== null) {
        known.push(["Coherence", topic.coherence.toFixed(3), "npmi of its ten most probable words in the documents"]);
      }
      if (topic.trend) known.push(["Trend", trendSign(topic.trend.kind).join(" ").trim(), "By a test that is corrected for the number of topics"]);
      figures.replaceChildren(
        ...known.map(([name, value, title]) =>
          element("div", { title }, element("dt", {}, name), element("dd", {}, value)),
        ),
      );
    },
  };
}
