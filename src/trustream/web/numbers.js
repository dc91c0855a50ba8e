// Write numbers and times for people.

// 0.0123 as "1.2 %"; small shares with more digits.
export function percent(share, digits = null) {
  if (share === null || share === undefined) return "–";
  const value = 100 * share;
  const fine = value === 0 || value >= 0.1 ? 1 : value >= 0.01 ? 2 : 3;
  return `${value.toFixed(digits ?? fine)}\u00a0%`;
}

const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

// 12345 as "12,345".
export function count(number) {
  return number === null || number === undefined ? "–" : WHOLE.format(number);
}

// "1 document", "2 documents"
export function counted(number, noun) {
  return `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
}

// Seconds since 1970 as a date in UTC, with the time of day if bins are shorter than a day.
export function date(seconds, width = Infinity) {
  const text = new Date(1000 * seconds).toISOString();
  const day = text.slice(0, text.indexOf("T"));
  if (width >= 86400) return day;
  return `${day} ${text.slice(text.indexOf("T") + 1).slice(0, width >= 60 ? 5 : 8)}`;
}

// Round numbers from 0 to about `most`, for an axis.
export function ticks(most, n = 4) {
  const rough = most / n;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((value) => value >= rough);
  const found = [];
  for (let i = 0; i * step <= most * 1.0001; i++) found.push(i * step);
  return found;
}

const TRENDS = { new: ["✦", "new"], rising: ["▲", "rising"], fading: ["▼", "fading"] };

// The sign and the name of a kind of trend; steady topics have no sign.
export function trendSign(kind) {
  return TRENDS[kind] ?? ["", "steady"];
}

export function pValue(p) {
  return p < 0.001 ? "p < 0.001" : `p = ${p.toPrecision(2)}`;
}
