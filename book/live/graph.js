/* A small graph: Gaussian affinities, the second eigenvector, the normalized cut at every
   threshold, and the best of all cuts. Twin: graph.py, which says what a state is. */
"use strict";
(function (live) {
  /** exp(-b times the squared distance), with W_ii = 1. */
  const affinities = ({ points, b }) =>
    points.map((p) => points.map((q) => Math.exp(-b * live.squaredDistance(p, q))));

  /** Both largest eigenvalues of G^(-1/2) W G^(-1/2), and z = G^(-1/2) u of the second. Its sign
      is the one with which z rises from left to right. */
  function relax(points, W, g) {
    const { values, vectors } = live.eigh(
      W.map((row, i) => row.map((w, j) => w / Math.sqrt(g[i] * g[j]))));
    const z = vectors.map((row, i) => row[1] / Math.sqrt(g[i]));
    const sign = z.reduce((sum, value, i) => sum + value * points[i][0], 0) < 0 ? -1 : 1;
    return { values, z: z.map((value) => sign * value) };
  }

  const total = (values) => values.reduce((sum, value) => sum + value, 0);

  /** The normalized cut of two parts, given for each node as 0 and 1. */
  function ncut(W, g, labels) {
    let cut = 0, volume = 0;
    labels.forEach((c, i) => {
      if (c === 0) return;
      volume += g[i];
      labels.forEach((other, j) => { if (other === 0) cut += W[i][j]; });
    });
    return cut / volume + cut / (total(g) - volume);
  }

  /** The best of all cuts: bit i of a number says whether node i is in the part without the last
      node. Volume and affinity inside grow node by node. */
  function bestCut(W, g) {
    const n = g.length, all = 2 ** (n - 1), sum = total(g);
    const volume = new Float64Array(all), inside = new Float64Array(all);
    let best = Infinity, part = 1;
    for (let number = 1; number < all; number++) {
      const i = 31 - Math.clz32(number), rest = number - 2 ** i;
      let within = 0;
      for (let j = 0; j < i; j++) if ((rest >> j) & 1) within += W[i][j];
      volume[number] = volume[rest] + g[i];
      inside[number] = inside[rest] + 2 * within + W[i][i];
      const cut = volume[number] - inside[number];
      const value = cut / volume[number] + cut / (sum - volume[number]);
      if (value < best - 1e-12) [best, part] = [value, number];
    }
    const labels = g.map((_, i) => (i < n - 1 ? (part >> i) & 1 : 0));
    return { value: ncut(W, g, labels), labels };
  }

  function compute(state) {
    const W = affinities(state), g = W.map(total), n = g.length;
    const { values, z } = relax(state.points, W, g), at = z.map((v) => Math.floor(v * 1e9 + 0.5));
    const order = live.range(n).sort((i, j) => at[i] - at[j] || i - j);
    const side = (size) => z.map((_, i) => (order.indexOf(i) < size ? 0 : 1));
    const cuts = live.range(n - 1).map((i) => ncut(W, g, side(i + 1)));
    const place = cuts.reduce((best, v, i) => (v < cuts[best] - 1e-12 ? i : best), 0);
    const labels = side(place + 1), best = bestCut(W, g);
    const other = labels.map((c, i) => (c === best.labels[i] ? 0 : 1));
    const few = 2 * total(other) <= n; // the names of the two parts of the best cut are free
    const worse = cuts[place] > best.value + 1e-9;
    return {
      W, z, order, cuts, place, labels, best: best.value,
      bound: Math.max(0, 2 - values[0] - values[1]),
      elsewhere: worse ? live.range(n).filter((i) => other[i] === (few ? 1 : 0)) : [],
    };
  }

  // Where things are, in the units of the panels: 40 to one of the points.
  const UNIT = 40;
  const rank = (r) => 45 + 22 * r, height = (v) => 225 - 85 * v;
  const fixed = (x) => live.fixed(x, 2);
  const visible = (yes) => (yes ? "visible" : "hidden");
  const joined = (nodes) => nodes.map((i) => i + 1).join(", ");

  function sentence(state, r) {
    const n = r.z.length, size = r.place + 1;
    const found = `The best threshold on the eigenvector cuts ${size} from ${n - size} nodes: NCut ` +
      `${live.fixed(r.cuts[r.place], 3)}, where the bound is ${live.fixed(r.bound, 3)}.`;
    const all = (2 ** (n - 1) - 1).toLocaleString("en");
    return r.elsewhere.length === 0 ? `${found} None of all ${all} cuts is better.`
      : `${found} The best of all ${all} cuts has ${live.fixed(r.best, 3)}: it moves the nodes ` +
        `with a ring, ${joined(r.elsewhere)}, to the other side.`;
  }

  function view(state, r) {
    const parts = { says: { text: sentence(state, r) } };
    const most = Math.max(...r.z.map(Math.abs));
    const places = state.points.map(([x, y]) => [fixed(UNIT * x), fixed(UNIT * y)]);
    places.forEach(([x, y], i) => {
      const at = r.order.indexOf(i), up = 72 - (38 * r.z[i]) / most;
      const side = `mlbook-live-handle mlbook-live-line${r.labels[i]}`;
      parts[`node-${i}`] = { cx: x, cy: y, class: side };
      parts[`name-${i}`] = { x, y: fixed(UNIT * state.points[i][1] + 4) };
      parts[`ring-${i}`] = { cx: x, cy: y, visibility: visible(r.elsewhere.includes(i)) };
      parts[`score-${i}`] = { cx: rank(at), cy: fixed(up), class: side };
      parts[`label-${i}`] = { x: rank(at), y: fixed(up + 4) };
      for (let j = 0; j < i; j++) {
        const cut = r.labels[i] !== r.labels[j], w = r.W[i][j];
        parts[`edge-${j}-${i}`] = {
          x1: places[j][0], y1: places[j][1], x2: x, y2: y,
          "stroke-width": fixed(5 * w), "stroke-dasharray": cut ? "4 3" : "none",
          visibility: visible(w > 0.02),
        };
      }
    });
    r.cuts.forEach((value, i) => {
      parts[`bar-${i}`] = {
        y: fixed(height(value)), height: fixed(225 - height(value)),
        class: i === r.place ? "mlbook-live-c5" : "mlbook-live-c6",
      };
    });
    parts.threshold = { x1: rank(r.place + 0.5), x2: rank(r.place + 0.5) };
    parts.bound = { y1: fixed(height(r.bound)), y2: fixed(height(r.bound)) };
    parts.b = { value: fixed(state.b), "aria-valuetext": fixed(state.b) };
    parts["b-text"] = { text: fixed(state.b) };
    return parts;
  }

  const handles = ({ points }, r) => ({
    nodes: points.map(([x, y], i) => ({
      x: UNIT * x, y: UNIT * y, says: `node ${i + 1}, eigenvector ${fixed(r.z[i])}`,
    })),
  });

  function drag(state, group, i, x, y) {
    const points = state.points.slice();
    points[i] = [live.clamp(x, 12, 308) / UNIT, live.clamp(y, 30, 228) / UNIT];
    return { ...state, points };
  }

  const control = (state, name, value) => ({ ...state, [name]: value });

  live.figures.graph = { compute, view, handles, drag, control, step: 10 };
})(globalThis.mlbookLive);
