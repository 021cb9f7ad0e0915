/* Weights under a cap: k units of water, glasses that hold one unit each, and what a unit is worth in
   each of them. Fan's theorem. Twin: glasses.py, which says what a state is. */
"use strict";
(function (live) {
  const HIGH = 92, FLOOR = 124; // the bars: the height of the largest, and where they stand
  const DEEP = 60, GROUND = 212; // the glasses
  const BAR = 304;

  const sum = (values) => values.reduce((s, x) => s + x, 0);
  const pitch = (n) => 300 / n;
  const middle = (n, i) => 10 + pitch(n) * (i + 0.5);

  function compute({ mu, k, w, partitions }) {
    const left = Math.max(0, k - sum(w)), last = mu[k - 1];
    return {
      left,
      worth: live.dot(mu, w),
      most: sum(mu.slice(0, k)),
      partition: live.dot(mu, partitions[k - 1]),
      short: sum(mu.slice(0, k).map((m, i) => (m - last) * (1 - w[i]))),
      low: sum(mu.slice(k).map((m, i) => (last - m) * w[k + i])),
      jug: last * left,
    };
  }

  function view({ mu, k, w }, result) {
    const n = mu.length, parts = {}, { left, worth, most } = result;
    const scale = HIGH / (mu[0] || 1), unit = BAR / (most || 1);
    const height = (floor, value) =>
      ({ y: live.fixed(floor - value, 2), height: live.fixed(value, 2) });
    w.forEach((weight, i) => {
      parts[`worth-${i}`] = height(FLOOR, scale * mu[i] * weight);
      parts[`water-${i}`] = height(GROUND, DEEP * weight);
      parts[`surface-${i}`] = { cy: live.fixed(GROUND - DEEP * weight, 2) };
      parts[`weight-${i}`] = { text: live.fixed(weight, 2) };
    });
    const level = live.fixed(FLOOR - scale * mu[k - 1], 2);
    parts.level = { x2: live.fixed(10 + pitch(n) * k, 2), y1: level, y2: level };
    let from = 8;
    for (const name of ["worth", "short", "low", "jug"]) {
      const width = unit * result[name];
      parts[`${name}-bar`] = { x: live.fixed(from, 2), width: live.fixed(width, 2) };
      from += width;
    }
    const mark = live.fixed(8 + unit * result.partition, 2);
    parts.partition = { x1: mark, x2: mark };
    parts["water-left"] = { text: `in the jug: ${live.fixed(left, 2)} of ${k} units` };
    parts.worth = { text: `worth ${live.fixed(worth, 1)}` };
    parts.most = { text: `at most ${live.fixed(most, 1)}` };
    parts["short-text"] = { text: `room left in the ${k} tallest: ${live.fixed(result.short, 1)}` };
    parts["low-text"] = { text: `water in the others: ${live.fixed(result.low, 1)}` };
    parts["jug-text"] = { text: `water in the jug: ${live.fixed(result.jug, 1)}` };
    parts["partition-text"] = { text: `dashed: the best partition into ${k}, ${live.fixed(result.partition, 1)}` };
    parts.k = { value: k, "aria-valuetext": `${k} units` };
    parts["k-text"] = { text: k };
    const missing = most - worth;
    parts.says = {
      text: `${live.fixed(k - left, 2)} of ${k} units poured, worth ${live.fixed(worth, 1)} of at most `
        + `${live.fixed(most, 1)}. `
        + (missing < 0.05 ? "Nothing is lost."
          : `${live.fixed(missing, 1)} is lost: ${live.fixed(result.short, 1)} by room left in the ${k} `
            + `tallest, ${live.fixed(result.low, 1)} by water in the others, `
            + `${live.fixed(result.jug, 1)} by water in the jug.`),
    };
    return parts;
  }

  const POUR = {
    largest: ({ mu, k }) => mu.map((_, i) => Number(i < k)),
    evenly: ({ mu, k }) => mu.map(() => k / mu.length),
    partition: ({ k, partitions }) => partitions[k - 1],
    empty: ({ mu }) => mu.map(() => 0),
  };

  live.figures.glasses = {
    compute,
    view,
    step: DEEP / 10,
    handles: ({ mu, w }) => ({
      glasses: w.map((weight, i) => ({
        x: middle(mu.length, i), y: GROUND - DEEP * weight,
        says: `glass ${i + 1}, a unit is worth ${live.fixed(mu[i], 1)}: ${live.fixed(weight, 2)} units`,
      })),
    }),
    /** The surface of glass i; no more than one unit, and no more than the jug has. */
    drag(state, group, i, x, y) {
      const room = state.w[i] + compute(state).left;
      const wanted = Math.round((100 * (GROUND - y)) / DEEP) / 100;
      const weight = live.clamp(wanted, 0, Math.min(1, room));
      return { ...state, w: state.w.map((old, j) => (j === i ? weight : old)) };
    },
    control(state, name, value) {
      if (name === "pour") return { ...state, w: POUR[value](state) };
      const shrink = Math.min(1, value / (sum(state.w) || 1)); // of fewer units some must go
      return { ...state, k: value, w: state.w.map((weight) => weight * shrink) };
    },
  };
})(globalThis.mlbookLive);
