/* Relabel by clicking: a row of points, and what four losses see of the reader's grouping. */
"use strict";
(function (live) {
  const MOST = 5; // groups that can be made by clicking
  const BAR = 304; // length of a full bar
  const share = (x, y) => (y > 0 ? x / y : 1);
  const sum = (values) => values.reduce((s, x) => s + x, 0);
  const inside = (sizes) => sum(sizes.map((n) => (n * (n - 1)) / 2));

  /** Indices at which another group begins, or null if a group is not one run. */
  function frontier(labels) {
    const cuts = live.range(labels.length).filter((i) => i > 0 && labels[i] !== labels[i - 1]);
    return cuts.length + 1 === new Set(labels).size ? cuts : null;
  }

  /** The frontier of one grouping that is farthest from the nearest one of the other. */
  function worst(a, b) {
    let found = { off: -1, from: 0, to: 0 };
    for (const [ones, others] of [[a, b], [b, a]]) {
      for (const from of ones) {
        const off = Math.min(...others.map((to) => Math.abs(to - from)));
        const to = others.find((x) => Math.abs(x - from) === off);
        if (off > found.off) found = { off, from, to };
      }
    }
    return found;
  }

  function compute({ truth, found }) {
    const n = truth.length;
    const table = live.contingency(truth, found, Math.max(...truth) + 1, Math.max(...found) + 1);
    const a = table.map(sum), b = live.transpose(table).map(sum);
    let delta = 0;
    table.forEach((row, i) => row.forEach((m, j) => {
      if (m > 0) delta += (m * (a[i] + b[j] - 2 * m)) / (a[i] * b[j]);
    }));
    const both = sum(table.map(inside)), pairs = { true: inside(a), found: inside(b), both };
    const differ = pairs.true + pairs.found - 2 * both, all = (n * (n - 1)) / 2;
    const groups = [a, b].map((sizes) => sizes.filter((m) => m > 0).length);
    const cuts = [frontier(truth), frontier(found)];
    let gap = null;
    if (cuts[0] && cuts[1]) {
      const [x, y] = cuts;
      if (x.length && y.length) gap = worst(x, y);
      else if (!x.length && !y.length) gap = { off: 0, from: 0, to: 0 };
    }
    return {
      delta, groups, pairs, differ, all,
      rand: differ / Math.max(1, all),
      f: share(2 * both, pairs.true + pairs.found),
      runs: cuts[1] !== null,
      gap, hausdorff: gap && gap.off / n,
    };
  }

  const place = (n, i) => 160 + (i - (n - 1) / 2) * Math.min(24, 312 / n);
  const edge = (n, i) => place(n, i - 0.5);
  const plural = (n, one) => `${n} ${one}${n === 1 ? "" : "s"}`;

  function view({ truth, found }, result) {
    const { delta, rand, f, hausdorff, gap, groups, pairs } = result, n = truth.length;
    const [k, l] = groups, parts = {};
    const bar = (value) => ({ width: live.fixed(BAR * value, 2) });
    found.forEach((c, i) => { parts[`point-${i}`] = { class: `mlbook-live-point mlbook-live-c${c}` }; });
    for (let i = 1; i < n; i++) parts[`cut-${i}`] = { visibility: found[i] === found[i - 1] ? "hidden" : "visible" };
    const far = gap !== null && gap.off > 0;
    parts.gap = {
      visibility: far ? "visible" : "hidden",
      x1: live.fixed(far ? edge(n, Math.min(gap.from, gap.to)) : 0, 2),
      x2: live.fixed(far ? edge(n, Math.max(gap.from, gap.to)) : 0, 2),
    };
    parts.delta = { text: live.fixed(delta, 2) };
    parts["delta-bar"] = bar(delta / (k + MOST - 2));
    parts["delta-why"] = { text: `${k} + ${l} groups − 2 × ${live.fixed((k + l - delta) / 2, 2)} overlap` };
    parts.rand = { text: live.fixed(rand, 3) };
    parts["rand-bar"] = bar(rand);
    parts["rand-why"] = { text: `${result.differ} of ${result.all} pairs judged otherwise` };
    parts.f = { text: live.fixed(1 - f, 3) };
    parts["f-bar"] = bar(1 - f);
    parts["f-why"] = { text: `F = 2 × ${pairs.both} / (${pairs.true} + ${pairs.found}) pairs together` };
    parts.hausdorff = { text: gap ? live.fixed(hausdorff, 3) : "–" };
    parts["hausdorff-bar"] = bar(gap ? hausdorff : 0);
    parts["hausdorff-why"] = {
      text: gap ? `worst frontier ${gap.off} of ${n} places off`
        : result.runs ? "no frontier to measure from" : "not defined: a group is in pieces",
    };
    parts.says = {
      text: `You found ${plural(l, "group")}, true are ${k}. Δ ${live.fixed(delta, 2)}, `
        + `Rand loss ${live.fixed(rand, 3)}, F-measure ${live.fixed(f, 3)}, `
        + `Hausdorff distance ${gap ? live.fixed(hausdorff, 3) : "not defined"}.`,
    };
    return parts;
  }

  live.figures.relabel = {
    compute,
    view,
    handles: ({ truth, found }) => ({
      points: found.map((c, i) => ({
        x: place(found.length, i), y: 56,
        says: `point ${i + 1}, true group ${truth[i] + 1}, found in group ${c + 1}`,
      })),
    }),
    /** The next group; after the last one in use comes a new one, then the first again. */
    press(state, group, i) {
      const others = state.found.filter((_, j) => j !== i);
      const last = Math.min(MOST - 1, Math.max(...others) + 1);
      const next = state.found[i] < last ? state.found[i] + 1 : 0;
      return { ...state, found: state.found.map((c, j) => (j === i ? next : c)) };
    },
    control: (state, name, value) => ({ ...state, found: state.cases[value] }),
  };
})(globalThis.mlbookLive);
