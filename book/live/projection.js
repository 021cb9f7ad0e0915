/* Projection: MLCA fits the targets J by the columns of X; the weights of the two directions that
   are kept go from those of the spectral step over those of MLCA to those of LDA. Twin:
   projection.py, which says what a state is. */
"use strict";
(function (live) {
  const MIDDLE = [160, 114]; // of a panel, where the origin is
  const ROW = 62; // length of the longest row of J, in the panel
  const WAYS = ["spectral step", "MLCA", "LDA"];

  /** What the second direction weighs when the first weighs 1: from 1 over ρ to 1/(1 − ρ). */
  function weigh([first, second], t) {
    if (second <= 1e-12) return 0; // no direction
    const mlca = second / first, lda = (1 - first + 1e-9) / (1 - second + 1e-9);
    return t <= 1 ? mlca ** t : mlca ** (2 - t) * lda ** (t - 1);
  }

  function compute({ X, y, t }) {
    const sizes = [0, 1].map((c) => y.filter((label) => label === c).length);
    const J = y.map((c) => [0, 1].map((b) => (b === c ? 1 / Math.sqrt(sizes[c]) : 0)));
    const { U, s } = live.svd(X);
    const basis = U.map((row) => row.map((u, j) => (s[j] > 1e-10 * s[0] ? u : 0)));
    const inner = live.svd(live.product(live.transpose(basis), J)); // the directions and √ρ
    const rho = inner.s.map((r) => Math.min(1, r * r)), weight = weigh(rho, t);
    const length = [Math.sqrt(rho[0]), Math.sqrt(rho[0] * weight)];
    const scores = live.product(basis, inner.U).map((row) => row.map((u, j) => u * length[j]));
    const rows = live.product(scores, live.transpose(inner.V));
    const labels = live.align(live.kmeans(rows, 2).labels, y, 2);
    return {
      rho, weight, rows, labels,
      residual: rows.reduce((sum, row, i) => sum + live.squaredDistance(row, J[i]), 0),
      least: 2 - rho[0] - rho[1],
      delta: live.delta(labels, y),
    };
  }

  const scaleOfRows = ({ y }) => ROW * Math.sqrt(Math.min(...[0, 1].map((c) => y.filter((l) => l === c).length)));
  const onPanel = (point, scale) =>
    [MIDDLE[0] + scale * point[0], MIDDLE[1] - scale * point[1]].map((value) => live.fixed(value, 2));

  function view(state, result) {
    const { y, t } = state, scale = scaleOfRows(state), parts = {};
    const { weight, residual, least, delta } = result;
    y.forEach((c, i) => {
      const look = `mlbook-live-point mlbook-live-c${result.labels[i]}`;
      const at = onPanel(state.X[i], state.scale), row = onPanel(result.rows[i], scale);
      parts[`point-${i}`] = { class: look, transform: `translate(${at.join(" ")})` };
      parts[`row-${i}`] = { class: look, transform: `translate(${row.join(" ")})` };
      parts[`miss-${i}`] = { x1: row[0], y1: row[1] };
    });
    const way = Number.isInteger(t) ? WAYS[t] : `between ${WAYS[Math.floor(t)]} and ${WAYS[Math.ceil(t)]}`;
    parts.t = { value: t, "aria-valuetext": way };
    parts["t-text"] = { text: way };
    parts.weights = { text: `1 and ${live.fixed(weight, 2)}` };
    parts.residual = { text: `${live.fixed(residual, 2)} (least ${live.fixed(least, 2)})` };
    parts.delta = { text: live.fixed(delta, 2) };
    parts.says = {
      text: `${way[0].toUpperCase()}${way.slice(1)}: the two directions weigh 1 and ${live.fixed(weight, 2)}. `
        + `Squared residual ${live.fixed(residual, 2)}; the least is ${live.fixed(least, 2)}. k-means on `
        + `the mapped points ${delta < 1e-9 ? "finds both classes" : `misses the classes by Δ = ${live.fixed(delta, 2)}`}.`,
    };
    return parts;
  }

  live.figures.projection = {
    compute,
    view,
    handles: ({ X, y, scale }) => ({
      points: X.map((point, i) => ({
        x: MIDDLE[0] + scale * point[0], y: MIDDLE[1] - scale * point[1],
        says: `point of class ${y[i] + 1} at ${point.map((v) => live.fixed(v, 1)).join(", ")}`,
      })),
    }),
    drag(state, group, i, x, y) {
      const px = live.clamp(x, 8, 312), py = live.clamp(y, 8, 212);
      const to = [(px - MIDDLE[0]) / state.scale, (MIDDLE[1] - py) / state.scale];
      return { ...state, X: state.X.map((point, j) => (j === i ? to : point)) };
    },
    control: (state, name, value) => ({ ...state, t: Number(value) }),
  };
})(globalThis.mlbookLive);
