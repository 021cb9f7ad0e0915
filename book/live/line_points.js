/* Four points on a line: the partition matrix, and total = trace + distortion. Twin:
   line_points.py, which says what a state is. */
"use strict";
(function (live) {
  const LEFT = 20, UNIT = 28, LONGEST = 10; // the line, from 0 to LONGEST
  const FLOOR = 118, LEVEL = 24, GROUPS = 4; // a level for each group, the first at the floor
  const BAR = 304;
  const COUNTS = ["", "One group", "Two groups", "Three groups", "Four groups"];

  const sum = (values) => values.reduce((s, x) => s + x, 0);

  /** All partitions of n points, groups numbered by their first point. */
  function partitions(n) {
    if (n === 0) return [[]];
    return partitions(n - 1).flatMap((p) => live.range(Math.max(-1, ...p) + 2).map((c) => [...p, c]));
  }

  const means = (x, labels) => labels.map((c) => {
    const group = x.filter((_, j) => labels[j] === c);
    return sum(group) / group.length;
  });
  const distortion = (x, labels) => sum(means(x, labels).map((m, i) => (x[i] - m) * (x[i] - m)));

  /** Another partition with as many groups must be better by 1e-9 to be taken. */
  function best(x, k) {
    let found = null;
    for (const labels of partitions(x.length)) {
      if (Math.max(...labels) + 1 !== k) continue;
      const cost = distortion(x, labels);
      if (found === null || cost < found.distortion - 1e-9) found = { labels, distortion: cost };
    }
    return found;
  }

  function compute({ x, labels }) {
    const centres = means(x, labels), k = new Set(labels).size;
    const sizes = labels.map((c) => labels.filter((d) => d === c).length);
    return {
      k,
      C: labels.map((c, i) => labels.map((d) => (c === d ? 1 / sizes[i] : 0))),
      means: centres,
      total: sum(x.map((value) => value * value)),
      trace: sum(centres.map((m) => m * m)),
      distortion: distortion(x, labels),
      best: best(x, k),
    };
  }

  const across = (value) => live.fixed(LEFT + UNIT * value, 2);
  const entry = (value) => (value === 0 ? "0" : value === 1 ? "1" : `1/${Math.round(1 / value)}`);

  function view({ x, labels }, result) {
    const { C, k, total, trace, distortion: lost } = result, parts = {};
    const share = total > 0 ? BAR * (lost / total) : 0;
    const least = total > 0 ? BAR * (result.best.distortion / total) : 0;
    labels.forEach((c, i) => {
      const y = FLOOR - LEVEL * c, at = across(x[i]), mean = across(result.means[i]);
      parts[`point-${i}`] = { class: `mlbook-live-point mlbook-live-c${c}`, cx: at, cy: y };
      parts[`name-${i}`] = { x: at, y: y - 10 };
      parts[`line-${i}`] = { x1: at, x2: mean, y1: y, y2: y };
      parts[`mean-${i}`] = { x1: mean, x2: mean, y1: y, y2: y + 12 };
      labels.forEach((_, j) => {
        parts[`cell-${i}-${j}`] = {
          class: `mlbook-live-c${c}`, "fill-opacity": live.fixed(0.45 * C[i][j], 3),
        };
        parts[`entry-${i}-${j}`] = { text: entry(C[i][j]) };
      });
    });
    parts.lost = { x: live.fixed(8 + BAR - share, 2), width: live.fixed(share, 2) };
    parts.kept = { width: live.fixed(BAR - share, 2) };
    const mark = live.fixed(8 + BAR - least, 2);
    parts.least = { x1: mark, x2: mark };
    parts.trace = { text: `trace ${live.fixed(trace, 1)}` };
    parts.distortion = { text: `distortion ${live.fixed(lost, 1)}` };
    parts.total = { text: `total ${live.fixed(total, 1)}; dashed: best with as many groups` };
    const optimal = lost < result.best.distortion + 1e-9;
    parts.says = {
      text: `${COUNTS[k]}: total ${live.fixed(total, 1)} = trace ${live.fixed(trace, 1)} + `
        + `distortion ${live.fixed(lost, 1)}. `
        + (optimal ? "No partition into as many groups has less distortion."
          : `The best with as many groups has distortion ${live.fixed(result.best.distortion, 1)}.`),
    };
    return parts;
  }

  live.figures.line_points = {
    compute,
    view,
    step: UNIT / 2,
    handles: ({ x, labels }) => ({
      points: labels.map((c, i) => ({
        x: LEFT + UNIT * x[i], y: FLOOR - LEVEL * c,
        says: `point ${i + 1} at ${live.fixed(x[i], 1)} in group ${c + 1}`,
      })),
    }),
    /** Sideways moves the point, to a tenth; up and down changes its group. */
    drag({ x, labels }, group, i, px, py) {
      const to = live.clamp(Math.round((10 * (px - LEFT)) / UNIT) / 10, 0, LONGEST);
      const level = live.clamp(Math.round((FLOOR - py) / LEVEL), 0, GROUPS - 1);
      const put = (values, value) => values.map((old, j) => (j === i ? value : old));
      return { x: put(x, to), labels: put(labels, level) };
    },
    press: ({ x, labels }, group, i) =>
      ({ x, labels: labels.map((c, j) => (j === i ? (c + 1) % GROUPS : c)) }),
    control: (state) => ({ x: state.x, labels: compute(state).best.labels }),
  };
})(globalThis.mlbookLive);
