/* Clusters for a price: exemplars among points of the plane, the offers that certify them, and how
   many there are at each price. Twin: price.py, which says what a state is. */
"use strict";
(function (live) {
  const MIDDLE = [160, 120], LEFT = 30, RIGHT = 310, TOP = 26, BOTTOM = 205; // of the panels
  const STEPS = 300, STALLED = 15; // of the ascent; steps that may bring little

  const total = (values) => values.reduce((sum, x) => sum + x, 0);

  /** For each point the nearest open exemplar, its distance, and the next nearest distance. */
  function nearest(D, open) {
    return D.map((row) => {
      let first = -1, d1 = Infinity, d2 = Infinity;
      row.forEach((d, q) => {
        if (!open[q]) return;
        if (d < d1) { d2 = d1; first = q; d1 = d; } else if (d < d2) d2 = d;
      });
      return { first, d1, d2 };
    });
  }

  /** What closing each exemplar costs. */
  function losses(near, n) {
    const lost = Array(n).fill(0);
    for (const { first, d1, d2 } of near) lost[first] += d2 - d1;
    return lost;
  }

  /** Swap an exemplar for a better point until none is better. Changes `open`. */
  function swap(D, open) {
    const n = D.length;
    if (total(open) === n) return 0;
    for (;;) {
      const near = nearest(D, open), lost = losses(near, n), cost = total(near.map((x) => x.d1));
      let best = 1e-9 * cost, add = -1, drop = -1;
      for (let q = 0; q < n; q++) {
        if (open[q]) continue;
        let gain = 0;
        const extra = lost.slice();
        near.forEach(({ first, d1, d2 }, p) => {
          const d = D[p][q];
          if (d < d1) { gain += d1 - d; extra[first] -= d2 - d1; }
          else if (d < d2) extra[first] -= d2 - d;
        });
        for (let r = 0; r < n; r++) {
          if (open[r] && gain - extra[r] > best) { best = gain - extra[r]; add = q; drop = r; }
        }
      }
      if (add < 0) return cost;
      open[add] = 1;
      open[drop] = 0;
    }
  }

  /** For every number of exemplars a cheap set: one is added to the last set, or, from all points
      downwards, dropped; each time swaps follow. */
  function setsOfAllSizes(D) {
    const n = D.length, sets = Array(n + 1).fill(null), costs = Array(n + 1).fill(Infinity);
    const keep = (open, cost) => {
      const k = total(open);
      if (cost < costs[k] * (1 - 1e-9)) { sets[k] = open.slice(); costs[k] = cost; }
    };
    sets[n] = Array(n).fill(1);
    costs[n] = 0;
    const sums = D[0].map((_, q) => total(D.map((row) => row[q])));
    let open = Array(n).fill(0);
    open[sums.indexOf(Math.min(...sums))] = 1;
    keep(open, Math.min(...sums));
    for (let k = 2; k < n; k++) {
      const near = nearest(D, open);
      const gains = D.map((_, q) => total(near.map(({ d1 }, p) => Math.max(0, d1 - D[p][q]))));
      open[gains.indexOf(Math.max(...gains))] = 1;
      keep(open, swap(D, open));
    }
    open = Array(n).fill(1);
    for (let k = n - 1; k > 1; k--) {
      const lost = losses(nearest(D, open), n).map((loss, q) => (open[q] ? loss : Infinity));
      open[lost.indexOf(Math.min(...lost))] = 0;
      keep(open, swap(D, open));
    }
    return { sets, costs, keep };
  }

  /** The numbers that are best at some price, as mlbook.price_paths.plateaus; `low` is the price
      down to which each is. */
  function plateaus(costs) {
    const hull = [];
    for (let count = 1; count < costs.length; count++) {
      let high = Infinity;
      if (hull.length && costs[count] >= hull.at(-1).cost) continue;
      while (hull.length) {
        const last = hull.at(-1);
        high = (last.cost - costs[count]) / (count - last.count);
        if (high < last.high) break;
        hull.pop();
      }
      hull.push({ count, cost: costs[count], high });
    }
    return { counts: hull.map((h) => h.count), low: [...hull.slice(1).map((h) => h.high), 0] };
  }

  /** Climb on L(v) by deflected subgradients with Polyak's steps, towards an energy. */
  function climb(D, price, energy, start) {
    const n = D.length, share = Array(n).fill(0);
    let v = start, best = v, bound = -Infinity, factor = 1, stalled = 0, direction = null;
    for (let step = 0; step < STEPS; step++) {
      const gains = Array(n).fill(0), slope = Array(n).fill(1);
      for (let p = 0; p < n; p++) {
        for (let q = 0; q < n; q++) if (v[p] > D[p][q]) gains[q] += v[p] - D[p][q];
      }
      for (let q = 0; q < n; q++) {
        share[q] *= 0.9;
        if (gains[q] <= price) continue;
        share[q] += 0.1;
        for (let p = 0; p < n; p++) if (v[p] > D[p][q]) slope[p] -= 1;
      }
      const value = total(v) + total(gains.map((gain) => Math.min(0, price - gain)));
      stalled = value - bound > 0.01 * (energy - value) ? 0 : stalled + 1;
      if (value > bound) { bound = value; best = v; }
      if (energy - bound <= 1e-9 * energy || slope.every((s) => s === 0)) break;
      if (stalled >= STALLED) {
        [v, direction, stalled, factor] = [best, null, 0, factor / 2];
        continue;
      }
      if (direction) {
        const turn = -1.5 * live.dot(direction, slope) / live.dot(direction, direction);
        direction = slope.map((s, p) => s + Math.max(0, turn) * direction[p]);
      } else direction = slope;
      const length = factor * (energy - value) / live.dot(direction, direction);
      v = v.map((x, p) => live.clamp(x + length * direction[p], 0, price));
    }
    return { offers: best, bound, share };
  }

  /** How many exemplars are best at this price; of equally good numbers the smallest. */
  const bestCount = (costs, price) => {
    const energies = costs.map((cost, k) => cost + price * k);
    return energies.indexOf(Math.min(...energies));
  };

  /** The first offers: every point pays its way and its share of the price. */
  function fairOffers(D, open, price) {
    const near = nearest(D, open), sizes = Array(D.length).fill(0);
    for (const { first } of near) sizes[first] += 1;
    return near.map(({ first, d1 }) => Math.min(price, d1 + price / sizes[first]));
  }

  function compute({ points, price }) {
    const D = points.map(([x, y]) =>
      points.map(([s, t]) => Math.sqrt((x - s) * (x - s) + (y - t) * (y - t))));
    const n = D.length, { sets, costs, keep } = setsOfAllSizes(D);
    let k = bestCount(costs, price);
    const start = fairOffers(D, sets[k], price);
    const { offers, bound, share } = climb(D, price, costs[k] + price * k, start);
    // Round: open the points that were open most of late, and swap.
    const order = live.range(n).sort((p, q) => share[q] - share[p] || p - q);
    for (const size of [k - 1, k, k + 1]) {
      if (size < 2 || size >= n) continue;
      const open = Array(n).fill(0);
      for (const q of order.slice(0, size)) open[q] = 1;
      keep(open, swap(D, open));
    }
    k = bestCount(costs, price);
    const energy = costs[k] + price * k;
    return {
      count: k, labels: nearest(D, sets[k]).map(({ first }) => first), ways: costs[k], energy,
      bound, gap: Math.max(0, energy - bound) / energy, offers, path: plateaus(costs),
    };
  }

  const toPanel = ({ frame: [x, y, scale] }, point) =>
    [MIDDLE[0] + scale * (point[0] - x), MIDDLE[1] - scale * (point[1] - y)];
  const xOf = ({ range: [low, high] }, price) =>
    live.clamp(LEFT + (RIGHT - LEFT) * Math.log(price / low) / Math.log(high / low), LEFT, RIGHT);
  const yOf = (n, count) => BOTTOM - (BOTTOM - TOP) * Math.log(count) / Math.log(n);
  const priceAt = ({ range: [low, high] }, share) =>
    Number((low * (high / low) ** share).toPrecision(3));

  /** The staircase, from the highest price down. */
  function stairs(state, { counts, low }) {
    const n = state.points.length, steps = counts.map((count, i) =>
      `V${live.fixed(yOf(n, count), 2)}H${live.fixed(low[i] > 0 ? xOf(state, low[i]) : LEFT, 2)}`);
    return `M${RIGHT} ${BOTTOM}${steps.join("")}`;
  }

  /** A colour for each exemplar, its own if it is free. */
  function colours(labels) {
    const taken = [], found = {};
    for (const q of [...new Set(labels)].sort((p, q) => p - q)) {
      let colour = q % 5; // the book's example has five groups in turn
      while (taken.length < 8 && taken.includes(colour)) colour = (colour + 1) % 8;
      if (!taken.includes(colour)) taken.push(colour);
      found[q] = colour;
    }
    return found;
  }

  const many = (k) => (k === 1 ? "1 cluster" : `${k} clusters`);

  function sentence({ price }, { count, ways, energy, bound, gap, path }) {
    const i = path.counts.indexOf(count), low = path.low[i];
    const [from, to] = [live.fixed(low, 2), i > 0 ? live.fixed(path.low[i - 1], 2) : ""];
    const upTo = i > 0 ? `to ${to}` : "upwards";
    const proof = gap < 1e-6 ? "So this choice is the best." :
      `So this choice is at most ${live.fixed(100 * gap, 2)}% dearer than the best.`;
    return `${many(count)}: ways ${live.fixed(ways, 2)} + ${count} × price ${live.fixed(price, 2)} ` +
      `= ${live.fixed(energy, 2)}. The offers prove that no choice costs less than ` +
      `${live.fixed(bound, 2)}. ${proof} Prices from ${from} ${upTo} all give ${many(count)}.`;
  }

  function view(state, result) {
    const parts = {}, n = state.points.length, colour = colours(result.labels);
    const places = state.points.map((point) => toPanel(state, point));
    places.forEach(([x, y], p) => {
      const q = result.labels[p], [cx, cy] = [live.fixed(x, 2), live.fixed(y, 2)];
      const [x2, y2] = places[q].map((value) => live.fixed(value, 2));
      parts[`way-${p}`] = { x1: cx, y1: cy, x2, y2 };
      parts[`point-${p}`] = { class: `mlbook-live-point mlbook-live-c${colour[q]}`, cx, cy };
      parts[`shop-${p}`] = { cx, cy, r: q === p ? 9 : 0 };
      const r = state.offers ? state.frame[2] * result.offers[p] : 0;
      parts[`offer-${p}`] = { cx, cy, r: live.fixed(r, 2) };
    });
    const x = live.fixed(xOf(state, state.price), 2);
    parts.path = { d: stairs(state, result.path) };
    parts.now = { x1: x, x2: x };
    parts.here = { cx: x, cy: live.fixed(yOf(n, result.count), 2) };
    parts.knob = { cx: x };
    parts.clusters = { text: String(result.count) };
    parts.energy = { text: live.fixed(result.energy, 2) };
    parts.bound = { text: live.fixed(result.bound, 2) };
    parts.gap = { text: `${live.fixed(100 * result.gap, 2)}%` };
    parts.offers = { checked: state.offers };
    const level = (xOf(state, state.price) - LEFT) / (RIGHT - LEFT);
    const text = live.fixed(state.price, 2);
    parts.level = { value: Math.floor(200 * level + 0.5), "aria-valuetext": text };
    parts["level-text"] = { text };
    parts.says = { text: sentence(state, result) };
    return parts;
  }

  function handles(state, result) {
    const points = state.points.map((point, p) => {
      const [x, y] = toPanel(state, point), q = result.labels[p];
      const role = q === p ? "an exemplar" : `belongs to point ${q + 1}`;
      return { x, y, says: `point ${p + 1}, ${role}` };
    });
    const says = `price ${live.fixed(state.price, 2)}, ${many(result.count)}`;
    return { points, price: [{ x: xOf(state, state.price), y: BOTTOM, panel: 1, says }] };
  }

  function drag(state, group, i, x, y) {
    if (group === "price") {
      return { ...state, price: priceAt(state, live.clamp((x - LEFT) / (RIGHT - LEFT), 0, 1)) };
    }
    const [cx, cy, scale] = state.frame, points = state.points.slice();
    const [px, py] = [live.clamp(x, 8, 312), live.clamp(y, 8, 232)];
    points[i] = [cx + (px - MIDDLE[0]) / scale, cy - (py - MIDDLE[1]) / scale];
    return { ...state, points };
  }

  const control = (state, name, value) =>
    (name === "level" ? { ...state, price: priceAt(state, value / 200) } : { ...state, [name]: value });

  live.figures.price = { compute, view, handles, drag, control };
})(globalThis.mlbookLive);
