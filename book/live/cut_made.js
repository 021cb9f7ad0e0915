/* When a cut is made: two levels with noise, the best segmentation at a price, and what one cut
   saves at every place. Twin: cut_made.py, which says what a state is. */
"use strict";
(function (live) {
  /** The points: p before the change, about 0, and q after it, about the jump. */
  function series({ p, q, jump, noise, before, after }) {
    const left = before.slice(0, p).map((value) => noise * value);
    return [...left.reverse(), ...after.slice(0, q).map((value) => jump + noise * value)];
  }

  /** Where the best segmentation cuts, by the dynamic program of Step 4 on cumulated sums. */
  function bestCuts(sums, price) {
    const n = sums.length - 1, value = [0], starts = [0];
    for (let u = 1; u <= n; u++) {
      let best = -Infinity, from = 0;
      for (let s = 0; s < u; s++) {
        const step = sums[u] - sums[s], total = value[s] + (step * step) / (u - s) - price;
        if (total > best + 1e-9) [best, from] = [total, s];
      }
      value.push(best);
      starts.push(from);
    }
    const cuts = [];
    for (let u = starts[n]; u > 0; u = starts[u]) cuts.unshift(u);
    return cuts;
  }

  /** What a cut after t points saves: t(n - t)/n times the squared gap of the two means. */
  function saving(sums, t) {
    const n = sums.length - 1, gap = (sums[n] - sums[t]) / (n - t) - sums[t] / t;
    return ((t * (n - t)) / n) * gap * gap;
  }

  function cumulated(x) {
    const sums = [0];
    for (const value of x) sums.push(sums[sums.length - 1] + value);
    return sums;
  }

  function compute(state) {
    const { p, q, jump, price } = state, n = p + q, places = live.range(n - 1).map((i) => i + 1);
    const x = series(state), sums = cumulated(x);
    const clean = cumulated(series({ ...state, noise: 0 })), weight = (p * q) / n;
    const ends = [0, ...bestCuts(sums, price), n];
    return {
      x,
      cuts: ends.slice(1, -1),
      means: ends.slice(1).map((u, i) => (sums[u] - sums[ends[i]]) / (u - ends[i])),
      saved: places.map((t) => saving(sums, t)),
      clean: places.map((t) => saving(clean, t)),
      gap: (sums[n] - sums[p]) / q - sums[p] / p,
      share: saving(sums, p) / price,
      weight,
      threshold: Math.sqrt(price / weight),
    };
  }

  // Where things are: the change is in the middle, whatever p and q.
  const MIDDLE = 160, GAP = 6, MOST = 24;
  const level = (v) => 165 - 25 * v, paid = (share) => Math.max(26, 200 - 70 * share);
  const fixed = (x) => live.fixed(x, 2);
  const short = (x) => live.fixed(x, 1).replace(".0", "");
  const visible = (yes) => (yes ? "visible" : "hidden");
  const PLACES = (n) => (n === 1 ? "1 point" : `${n} points`);

  function verdict({ p }, { cuts }) {
    if (cuts.length === 0) return "The best segmentation does not cut.";
    const there = cuts.includes(p);
    if (cuts.length > 1) {
      return `The best segmentation has ${cuts.length} cuts, ${there ? "one" : "none"} at the change.`;
    }
    return there ? "The best segmentation cuts there, and nowhere else."
      : `The best segmentation cuts once, ${PLACES(Math.abs(cuts[0] - p))} from the change.`;
  }

  function sentence(state, r) {
    const gap = live.fixed(Math.abs(r.gap), 3);
    return `Segments of ${state.p} and ${state.q}, means ${gap} apart: a cut ` +
      `at the change saves ${fixed(r.weight)} × ${gap}² = ${fixed(r.share * state.price)}, ` +
      `${live.fixed(100 * r.share, 0)}% of the price. ` +
      `${verdict(state, r)} Without noise it takes a jump above ${fixed(r.threshold)}.`;
  }

  function viewSeries({ p, q, jump }, r, parts) {
    const across = (t) => MIDDLE + GAP * (t - p), ends = [0, ...r.cuts, p + q];
    const segment = (t) => ends.findIndex((u) => u > t) - 1;
    const point = (t, shown) => ({
      class: `mlbook-live-point mlbook-live-c${shown ? segment(t) % 8 : 0}`,
      visibility: visible(shown),
      transform: shown ? `translate(${fixed(across(t + 0.5))} ${fixed(level(r.x[t]))})`
        : `translate(${MIDDLE} ${level(0)})`,
    });
    for (const i of live.range(MOST)) {
      parts[`before-${i}`] = point(p - 1 - i, i < p);
      parts[`after-${i}`] = point(p + i, i < q);
    }
    parts.left = { x1: fixed(across(0)) };
    parts.right = { x2: fixed(across(p + q)), y1: fixed(level(jump)), y2: fixed(level(jump)) };
    parts["end-0"] = { cx: fixed(across(0)) };
    parts["end-1"] = { cx: fixed(across(p + q)), cy: fixed(level(jump)) };
    parts.found = {
      d: r.means.map((z, i) =>
        `M${fixed(across(ends[i]))} ${fixed(level(z))}H${fixed(across(ends[i + 1]))}`).join(""),
    };
  }

  function view(state, r) {
    const { p, price } = state, parts = { says: { text: sentence(state, r) } };
    viewSeries(state, r, parts);
    for (const name of ["saved", "clean"]) {
      parts[name] = {
        points: r[name].map((value, i) =>
          `${fixed(MIDDLE + GAP * (i + 1 - p))},${fixed(paid(value / price))}`).join(" "),
      };
    }
    parts.dot = { cy: fixed(paid(r.share)), class: `mlbook-live-c${r.share > 1 ? 5 : 1}` };
    parts.share = { text: `at the change ${live.fixed(100 * r.share, 0)}%` };
    for (const name of ["p", "q", "jump", "noise", "price"]) {
      parts[name] = { value: short(state[name]), "aria-valuetext": short(state[name]) };
      parts[`${name}-text`] = { text: short(state[name]) };
    }
    return parts;
  }

  const handles = ({ p, q, jump }) => ({
    levels: [
      { x: MIDDLE - GAP * p, y: level(0), says: `${PLACES(p)} before the change` },
      {
        x: MIDDLE + GAP * q, y: level(jump),
        says: `${PLACES(q)} after the change, jump ${short(jump)}`,
      },
    ],
  });

  function drag(state, group, i, x, y) {
    const size = live.clamp(Math.round(Math.abs(x - MIDDLE) / GAP), 1, MOST);
    if (i === 0) return { ...state, p: x < MIDDLE ? size : 1 };
    const jump = live.clamp(Math.round((165 - y) / 2.5) / 10, 0, 3);
    return { ...state, q: x > MIDDLE ? size : 1, jump };
  }

  const control = (state, name, value) => ({ ...state, [name]: value });

  live.figures.cut_made = { compute, view, handles, drag, control, step: 20 };
})(globalThis.mlbookLive);
