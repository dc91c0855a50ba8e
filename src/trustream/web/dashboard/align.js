// Keep a map the way up it was: of all turned and mirrored pictures of the new places, take the one
// that is nearest to the old places (orthogonal Procrustes in two dimensions).

// Returns places by topic, turned like `before`, which has places by topic, too.
export function aligned(topics, before) {
  const common = topics.filter((topic) => before.has(topic.topic) && topic.position.every(Number.isFinite));
  if (common.length < 2) return new Map(topics.map((topic) => [topic.topic, topic.position]));
  let [a, b, c, d] = [0, 0, 0, 0];
  for (const topic of common) {
    const [x, y] = topic.position;
    const [u, v] = before.get(topic.topic);
    // A turn keeps a = xu + yv and b = xv - yu, a mirrored one c = xu - yv and d = xv + yu.
    a += x * u + y * v;
    b += x * v - y * u;
    c += x * u - y * v;
    d += x * v + y * u;
  }
  const mirrored = Math.hypot(c, d) > Math.hypot(a, b) * 1.000001;
  const [cos, sin] = mirrored ? [c, d] : [a, b];
  const size = Math.hypot(cos, sin) || 1;
  const place = ([x, y]) => {
    const side = mirrored ? -y : y;
    return [(cos * x - sin * side) / size, (sin * x + cos * side) / size];
  };
  return new Map(topics.map((topic) => [topic.topic, place(topic.position)]));
}
