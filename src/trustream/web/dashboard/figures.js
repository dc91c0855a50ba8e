// Write figures of a stream for people.

import { count, date } from "../numbers.js";

// -7.62 nats per word, with a true minus.
export function nats(score) {
  return score === null || score === undefined ? "–" : score.toFixed(3).replace("-", "−");
}

// The number of words among which a model is as unsure as if all had the same chance.
export function perplexity(score) {
  return score === null || score === undefined ? "–" : count(Math.exp(-score));
}

// 0.04, 3.2, 120
export function perSecond(rate) {
  if (rate === 0) return "0";
  return rate >= 100 ? count(rate) : rate >= 10 ? rate.toFixed(1) : rate.toFixed(2);
}

// The time of day, with the date if it is not that of today.
export function moment(seconds) {
  const text = date(seconds, 1);
  const day = text.slice(0, text.indexOf(" "));
  return day === date(Date.now() / 1000) ? text.slice(day.length + 1) : text.slice(0, -3);
}

// A change of a share in points of percentage: "+0.4 points".
export function points(difference) {
  const value = 100 * difference;
  return `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(Math.abs(value) < 0.095 ? 2 : 1)} points`;
}

export function signed(difference) {
  return `${difference < 0 ? "−" : "+"}${count(Math.abs(difference))}`;
}

export function trainerText(status) {
  const { trainer, training } = status;
  if (training.problem && training.state !== "running") return `Trainer: ${training.problem}`;
  if (training.state === "restarting") return "Trainer is restarting";
  if (trainer === null) return training.state === "off" ? "No trainer runs" : `Trainer is ${training.state}`;
  if (trainer.is_silent) return "Trainer is silent";
  return "A trainer is learning";
}

// How long history is kept, in words.
export function retentionText(retention) {
  if (!retention) return "\u00a0";
  const each = (length) => (length % 3600 === 0 ? `${length / 3600} h` : `${length / 60} min`).replace(/^1 h$/, "hour");
  return (
    `The store keeps one point of history every ${each(retention.fine_seconds)} for ${count(retention.fine_days)} days, ` +
    `and one every ${each(retention.coarse_seconds)} for ${count(retention.coarse_days)} days.`
  );
}
