/* Learn the metric: labelled points, the metric MLCA learns from them, and what k-means finds with
   it among other points. Twin: metric.py, which says what a state is. */
"use strict";
(function (live) {
  const MIDDLE = [160, 120]; // of a panel, in its units
  const SIZE = 28; // radius of the circle; an ellipse has the same area
  const LONGEST = 14; // an ellipse is drawn at most so many times as long as wide
  const STEPS = { plain: "the plain distance", learned: "the learned metric", hand: "your ellipse" };

  const toPanel = ({ frame: [x, y, scale] }, point) =>
    [MIDDLE[0] + scale * (point[0] - x), MIDDLE[1] - scale * (point[1] - y)];
  const fromPanel = ({ frame: [x, y, scale] }, px, py) =>
    [x + (px - MIDDLE[0]) / scale, y - (py - MIDDLE[1]) / scale];

  /** W with WWᵀ = the metric of MLCA with an intercept, shrunk by a: Theorem 3.2 on the centred
      points and, with a > 0, the pseudo-rows of mlbook/mlca/shrinkage.py. */
  function learn(X, y, k, a) {
    const mean = live.mean(X), d = mean.length;
    const rows = X.map((row) => row.map((x, j) => x - mean[j]));
    const sizes = live.range(k).map((c) => y.filter((label) => label === c).length);
    const targets = y.map((label) =>
      live.range(k).map((c) => (c === label ? 1 / Math.sqrt(sizes[c]) : 0)));
    if (a === 0) return live.leastSquares(rows, targets);
    const total = rows.reduce((sum, row) => sum + live.dot(row, row), 0) / d;
    const sums = live.product(live.transpose(rows), targets);
    const between = sums.reduce((sum, row) => sum + live.dot(row, row), 0) / d;
    const unit = (size) => live.range(d).map((i) => live.range(d).map((j) => (i === j ? size : 0)));
    const zeros = (n, m) => live.range(n).map(() => Array(m).fill(0));
    const beside = (left, right) => left.map((row, i) => [...row, ...right[i]]);
    const A = [
      ...rows.map((row) => row.map((x) => Math.sqrt(1 - a) * x)),
      ...unit(Math.sqrt(a * between)),
      ...unit(Math.sqrt(a * Math.max(0, total - between))),
    ];
    const B = [
      ...beside(targets, zeros(X.length, d)),
      ...beside(zeros(d, k), unit(1)),
      ...zeros(d, k + d),
    ];
    return live.leastSquares(A, B);
  }

  /** The ellipse xᵀWWᵀx = const: the direction of its long axis, and how many times as long as wide
      it is (Infinity for a line). */
  function shape(W) {
    const [p, q] = W, a = live.dot(p, p), b = live.dot(p, q), c = live.dot(q, q);
    const middle = (a + c) / 2, spread = Math.hypot((a - c) / 2, b);
    const least = Math.max(0, middle - spread);
    const ratio = least > 1e-12 * middle ? Math.sqrt((middle + spread) / least) : 1e6;
    return { angle: Math.atan2(2 * b, a - c) / 2 + Math.PI / 2, ratio: Math.min(ratio, 1e6) };
  }

  /** W of the metric whose ellipse has this shape. */
  function byHand({ angle, ratio }) {
    const [c, s] = [Math.cos(angle), Math.sin(angle)];
    return [[c / ratio, -s], [s / ratio, c]];
  }

  function cluster(state, W) {
    const { labels } = live.kmeans(live.product(state.test, W), state.k);
    const found = live.align(labels, state.truth, state.k);
    const wrong = found.filter((c, i) => c !== state.truth[i]).length;
    const centres = live.range(state.k).map((c) =>
      live.mean(state.test.filter((_, i) => found[i] === c)));
    return { labels: found, delta: live.delta(found, state.truth), wrong, centres };
  }

  function compute(state) {
    const W = learn(state.X, state.y, state.k, state.shrinkage);
    const shown = { plain: [[1, 0], [0, 1]], learned: W, hand: byHand(state.hand) }[state.metric];
    const plain = cluster(state, [[1, 0], [0, 1]]), learned = cluster(state, W);
    return {
      W, plain, learned, ...shape(shown),
      shown: { plain, learned }[state.metric] || cluster(state, shown),
      centre: live.mean(state.X),
    };
  }

  /** Attributes of an ellipse about a point of a panel. */
  function ellipse([x, y], { angle, ratio }, size) {
    const q = Math.sqrt(Math.min(ratio, LONGEST));
    const [cx, cy] = [live.fixed(x, 2), live.fixed(y, 2)];
    const turn = live.fixed((-angle * 180) / Math.PI, 2);
    return {
      cx, cy, rx: live.fixed(size * q, 2), ry: live.fixed(size / q, 2),
      transform: `rotate(${turn} ${cx} ${cy})`,
    };
  }

  /** The ends of the long and of the short axis, in the panel. */
  function ends(state, result) {
    const q = Math.sqrt(Math.min(result.ratio, LONGEST));
    const [x, y] = toPanel(state, result.centre);
    const [c, s] = [Math.cos(result.angle), Math.sin(result.angle)];
    return [
      { x: x + SIZE * q * c, y: y - SIZE * q * s },
      { x: x - (SIZE / q) * s, y: y - (SIZE / q) * c },
    ];
  }

  const length = (ratio) => (ratio > 99 ? "over 99" : live.fixed(ratio, 1));
  const score = ({ delta, wrong }, n) => `${wrong} of ${n} wrong, Δ ${live.fixed(delta, 2)}`;

  function view(state, result) {
    const n = state.test.length, parts = {};
    state.X.forEach((point, i) => {
      const [x, y] = toPanel(state, point);
      parts[`point-${i}`] = { transform: `translate(${live.fixed(x, 2)} ${live.fixed(y, 2)})` };
    });
    result.shown.labels.forEach((c, i) => {
      parts[`test-${i}`] = { class: `mlbook-live-point mlbook-live-c${c % 8}` };
    });
    result.shown.centres.forEach((centre, c) => {
      parts[`centre-${c}`] = ellipse(toPanel(state, centre), result, SIZE);
    });
    parts.ellipse = ellipse(toPanel(state, result.centre), result, SIZE);
    ends(state, result).forEach(({ x, y }, i) => {
      parts[`end-${i}`] = { cx: live.fixed(x, 2), cy: live.fixed(y, 2) };
    });
    for (const name of ["plain", "learned", "hand"]) {
      parts[`metric-${name}`] = { checked: state.metric === name };
    }
    parts["plain-score"] = { text: score(result.plain, n) };
    parts["learned-score"] = { text: score(result.learned, n) };
    parts["hand-score"] = { text: state.metric === "hand" ? score(result.shown, n) : "drag the ellipse" };
    for (const name of ["plain", "learned", "hand"]) {
      parts[`${name}-row`] = { "data-shown": state.metric === name };
    }
    const a = live.fixed(state.shrinkage, 2);
    parts.shrinkage = { value: state.shrinkage, "aria-valuetext": a };
    parts["shrinkage-text"] = { text: a };
    parts.says = {
      text: `Shown: ${STEPS[state.metric]}. ${result.shown.wrong} of ${n} test points are in a wrong ` +
        `group (Δ = ${live.fixed(result.shown.delta, 2)}). Its ellipse is ${length(result.ratio)} ` +
        "times as long as wide.",
    };
    return parts;
  }

  function handles(state, result) {
    const points = state.X.map((point, i) => {
      const [x, y] = toPanel(state, point);
      const at = point.map((value) => live.fixed(value, 2)).join(", ");
      return { x, y, says: `labelled point of class ${state.names[state.y[i]]} at ${at}` };
    });
    const degrees = live.fixed((((result.angle * 180) / Math.PI) % 180 + 180) % 180, 0);
    const what = `${length(result.ratio)} times as long as wide, turned by ${degrees} degrees`;
    const [long, short] = ends(state, result);
    return {
      ellipse: [
        { ...long, says: `end of the long axis; ${what}` },
        { ...short, says: `end of the short axis; ${what}` },
      ],
      points,
    };
  }

  function drag(state, group, i, x, y) {
    const [px, py] = [live.clamp(x, 8, 312), live.clamp(y, 8, 232)];
    if (group === "points") {
      const X = state.X.slice();
      X[i] = fromPanel(state, px, py);
      return { ...state, X };
    }
    const [cx, cy] = toPanel(state, live.mean(state.X));
    const away = Math.max(1, Math.hypot(px - cx, py - cy)), turn = Math.atan2(cy - py, px - cx);
    const q = live.clamp(i === 0 ? away / SIZE : SIZE / away, 1, Math.sqrt(LONGEST));
    const angle = i === 0 ? turn : turn - Math.PI / 2;
    return { ...state, metric: "hand", hand: { angle, ratio: q * q } };
  }

  function control(state, name, value) {
    if (name !== "metric" || value !== "hand") return { ...state, [name]: value };
    const { angle, ratio } = compute(state); // by hand goes on from what was shown
    return { ...state, metric: "hand", hand: { angle, ratio: Math.min(ratio, LONGEST) } };
  }

  live.figures.metric = { compute, view, handles, drag, control };
})(globalThis.mlbookLive);
