/* Bags: instances that share a bag and its labels, and who gets which label: the cheapest choice of
   all, or the smallest number first. Twin: bags.py, which says what a state is. */
"use strict";
(function (live) {
  const MIDDLE = [160, 120], LONGEST = 170; // of the plane, of a bar

  const total = (values) => values.reduce((sum, x) => sum + x, 0);

  /** The label (a position in the row) of each row, -1 for none: the smallest sum there is. */
  function cheapest(costs) {
    if (costs.length <= costs[0].length) return live.assign(costs);
    const rows = live.assign(live.transpose(costs));
    return costs.map((_, i) => rows.indexOf(i));
  }

  /** The same by a greedy hand: the smallest number first, then the smallest that is still free. */
  function greedy(costs) {
    const found = costs.map(() => -1);
    for (let turn = 0; turn < Math.min(costs.length, costs[0].length); turn++) {
      let least = Infinity, row = -1, column = -1;
      costs.forEach((line, i) => line.forEach((cost, j) => {
        if (cost < least && found[i] < 0 && !found.includes(j)) [least, row, column] = [cost, i, j];
      }));
      found[row] = column;
    }
    return found;
  }

  const paid = (costs, found) => total(found.map((j, i) => (j < 0 ? 0 : costs[i][j])));

  function compute({ points, offsets, labels, centroids }) {
    const bags = labels.map((own, b) => {
      const costs = points.slice(offsets[b], offsets[b + 1]).map((point) =>
        own.map((c) => live.squaredDistance(point, centroids[c])));
      const best = cheapest(costs), hasty = greedy(costs);
      const named = (found) => found.map((j) => (j < 0 ? -1 : own[j]));
      return {
        costs, best: named(best), greedy: named(hasty), paid: paid(costs, best),
        greedyPaid: paid(costs, hasty),
      };
    });
    return {
      bags, paid: total(bags.map((bag) => bag.paid)),
      greedyPaid: total(bags.map((bag) => bag.greedyPaid)),
    };
  }

  const toPanel = ({ frame: [x, y, scale] }, point) =>
    [MIDDLE[0] + scale * (point[0] - x), MIDDLE[1] - scale * (point[1] - y)];
  const bagOf = ({ offsets }, j) => offsets.findIndex((end, b) => j >= end && j < offsets[b + 1]);
  const number = (x) => live.fixed(x, 1);

  function choice({ names, offsets }, b, found) {
    const pairs = found.flatMap((c, i) => (c < 0 ? [] : [`${offsets[b] + i + 1} → ${names[c]}`]));
    return pairs.join(", ");
  }

  /** By how much the greedy hand pays more. */
  const loss = (best, hasty) =>
    (best > 1e-9 ? `${number(hasty - best)} more (${live.fixed(100 * (hasty / best - 1), 0)}%)`
      : `${number(hasty - best)} more`);

  function sentence(state, { bags, paid: all, greedyPaid }) {
    const { bag: b } = state, bag = bags[b];
    const start = `Bag ${b + 1}: the best choice, ${choice(state, b, bag.best)}, costs ${number(bag.paid)}. `;
    const end = ` All bags: best ${number(all)}, greedy ${number(greedyPaid)}.`;
    if (bag.greedyPaid - bag.paid < 1e-9) return `${start}A greedy hand pays no more.${end}`;
    return `${start}A greedy hand, the smallest number first, takes ${choice(state, b, bag.greedy)} ` +
      `and pays ${loss(bag.paid, bag.greedyPaid)}.${end}`;
  }

  function view(state, result) {
    const parts = {}, { points, offsets, names, bag: b } = state, bag = result.bags[b];
    const found = result.bags.flatMap(({ best }) => best);
    points.forEach((point, j) => {
      const [x, y] = toPanel(state, point), own = bagOf(state, j), c = found[j];
      const middle = live.mean(points.slice(offsets[own], offsets[own + 1]));
      const [mx, my] = toPanel(state, middle), below = my < y - 1e-9; // the name, off the line
      const [x2, y2] = [live.fixed(mx, 2), live.fixed(my, 2)];
      const [cx, cy] = [live.fixed(x, 2), live.fixed(y, 2)];
      const colour = c < 0 ? "mlbook-live-handle" : `mlbook-live-point mlbook-live-c${c % 8}`;
      parts[`tether-${j}`] = {
        class: own === b ? "mlbook-live-ellipse" : "mlbook-live-faint", x1: cx, y1: cy, x2, y2,
      };
      parts[`point-${j}`] = { class: colour, cx, cy };
      const text = `${j + 1}${c < 0 ? "" : ` ${names[c]}`}`;
      parts[`name-${j}`] = { x: cx, y: live.fixed(y + (below ? 20 : -10), 2), text };
    });
    state.centroids.forEach((centroid, c) => {
      const [x, y] = toPanel(state, centroid).map((value) => live.fixed(value, 2));
      parts[`centroid-${c}`] = { transform: `translate(${x} ${y})` };
    });
    for (let i = 0; i < state.rows; i++) {
      const here = i < bag.costs.length;
      parts[`row-${i}`] = { text: here ? `${offsets[b] + i + 1}` : "" };
      names.forEach((_, c) => {
        const j = state.labels[b].indexOf(c), used = here && j >= 0;
        const chosen = used && bag.best[i] === c;
        parts[`cell-${i}-${c}`] = {
          class: chosen ? "mlbook-live-ellipse" : "mlbook-live-faint", visibility: used ? "visible" : "hidden",
        };
        parts[`cost-${i}-${c}`] = { text: used ? number(bag.costs[i][j]) : "" };
        parts[`hand-${i}-${c}`] = { r: used && bag.greedy[i] === c ? 5 : 0 };
      });
    }
    const most = Math.max(bag.greedyPaid, 1e-9);
    [["best", bag.paid], ["greedy", bag.greedyPaid]].forEach(([name, cost]) => {
      parts[`bar-${name}`] = { width: live.fixed((LONGEST * cost) / most, 2) };
      parts[`paid-${name}`] = { text: number(cost) };
    });
    parts.title = { text: `bag ${b + 1}: squared distances` };
    parts.loses = { text: number(bag.greedyPaid - bag.paid) };
    parts.best = { text: number(bag.paid) };
    parts.greedy = { text: number(bag.greedyPaid) };
    parts.all = { text: `best ${number(result.paid)}, greedy ${number(result.greedyPaid)}` };
    result.bags.forEach((_, i) => { parts[`bag-${i}`] = { checked: i === b }; });
    parts.says = { text: sentence(state, result) };
    return parts;
  }

  function handles(state, result) {
    const found = result.bags.flatMap(({ best }) => best), { names } = state;
    const points = state.points.map((point, j) => {
      const [x, y] = toPanel(state, point), name = found[j] < 0 ? "no label" : `label ${names[found[j]]}`;
      return { x, y, says: `instance ${j + 1} of bag ${bagOf(state, j) + 1}, ${name}` };
    });
    const centroids = state.centroids.map((centroid, c) => {
      const [x, y] = toPanel(state, centroid);
      return { x, y, says: `centroid of label ${names[c]}` };
    });
    return { points, centroids };
  }

  function drag(state, group, i, x, y) {
    const [cx, cy, scale] = state.frame, moved = state[group].slice();
    const [px, py] = [live.clamp(x, 8, 312), live.clamp(y, 8, 232)];
    moved[i] = [cx + (px - MIDDLE[0]) / scale, cy - (py - MIDDLE[1]) / scale];
    return { ...state, [group]: moved, ...(group === "points" ? { bag: bagOf(state, i) } : {}) };
  }

  const press = (state, group, i) => (group === "points" ? { ...state, bag: bagOf(state, i) } : state);

  /** The next round of Algorithm 1: every centroid goes to the mean of those with its label. */
  function toMeans(state) {
    const found = compute(state).bags.flatMap(({ best }) => best);
    const centroids = state.centroids.map((centroid, c) => {
      const members = state.points.filter((_, j) => found[j] === c);
      return members.length ? live.mean(members) : centroid;
    });
    return { ...state, centroids };
  }

  const control = (state, name, value) =>
    (name === "means" ? toMeans(state) : { ...state, bag: Number(value) });

  live.figures.bags = { compute, view, handles, drag, press, control };
})(globalThis.mlbookLive);
