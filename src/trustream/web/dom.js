// Make nodes. Texts are always added as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

// element("p", {class: "note", onclick: f, css: {width: "10%"}}, "text", node)
export function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

// The same for parts of a drawing.
export function drawn(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "css") {
      for (const [property, given] of Object.entries(value)) node.style.setProperty(property, given);
    } else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

// Call draw(width) now and whenever the width of the node changes.
export function followWidth(node, draw) {
  let last = 0;
  new ResizeObserver(() => {
    const width = Math.round(node.clientWidth);
    if (width > 0 && width !== last) draw((last = width));
  }).observe(node);
}

let measuring = null;

// The width of a text in pixels, in the font of the page.
export function textWidth(text, size, weight = 400) {
  measuring ??= document.createElement("canvas").getContext("2d");
  measuring.font = `${weight} ${size}px ${getComputedStyle(document.body).fontFamily}`;
  return measuring.measureText(text).width;
}

// A text that is not wider than so many pixels.
export function fitted(text, width, size) {
  if (textWidth(text, size) <= width) return text;
  const letters = [...text];
  let low = 0;
  let high = letters.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (textWidth(letters.slice(0, middle).join("") + "…", size) <= width) low = middle;
    else high = middle - 1;
  }
  return letters.slice(0, low).join("").trimEnd() + "…";
}

// What moves a choice along a list by keys: the new place, or null for other keys.
export function moved(key, place, n) {
  if (key === "ArrowRight" || key === "ArrowDown") return Math.min(place + 1, n - 1);
  if (key === "ArrowLeft" || key === "ArrowUp") return Math.max(place - 1, 0);
  if (key === "Home") return 0;
  if (key === "End") return n - 1;
  return null;
}

// Show which of the buttons of topics is the chosen one.
export function pressed(node, selected) {
  for (const button of node.querySelectorAll("button[data-topic]")) {
    button.setAttribute("aria-pressed", String(Number(button.dataset.topic) === selected));
  }
}

// Change what is in a node; a button or link of a topic that had the focus has it again.
export function keepingFocus(node, change) {
  const had = document.activeElement;
  const wanted = had && node.contains(had) ? had.dataset.topic : undefined;
  change();
  if (wanted === undefined || node.contains(had)) return;
  for (const found of node.querySelectorAll("[data-topic]")) {
    if (found.dataset.topic === wanted && found.tagName === had.tagName) return found.focus({ preventScroll: true });
  }
}

// A text in which characters that cannot be seen, such as those of escape sequences, can be.
export function visible(text) {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, (found) =>
    found === "\u007f" ? "\u2421" : String.fromCharCode(0x2400 + found.charCodeAt(0)),
  );
}
