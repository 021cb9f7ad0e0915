/* Six points in time: the dynamic program, the path of the price, and the hinge with the margin
   over all 32 segmentations. Twin: six_points.py, which says what a state is. */
"use strict";
(function (live) {
  const N = 6;
  const TRUTH = [0, 0, 1, 1, 2, 2];

  // All segmentations; bit 4 of their number is a cut after the first point, bit 0 the last cut.
  const ALL = live.range(2 ** (N - 1)).map((number) => {
    const labels = labelsOf((i) => (number >> (N - 1 - i)) & 1);
    return { labels, count: labels[N - 1] + 1, loss: live.delta(labels, TRUTH) };
  });
  const same = (a, b) => a.every((c, i) => c === b[i]);
  const numberOf = (labels) => ALL.findIndex((each) => same(each.labels, labels));
  const TRUE = numberOf(TRUTH);

  function labelsOf(begins) {
    const labels = [0];
    for (let i = 1; i < N; i++) labels.push(labels[i - 1] + (begins(i) ? 1 : 0));
    return labels;
  }

  /** The distortion of points s + 1, ..., u as one segment. */
  function spread(x, s, u) {
    let mean = 0, total = 0;
    for (let i = s; i < u; i++) mean += x[i];
    mean /= u - s;
    for (let i = s; i < u; i++) total += (x[i] - mean) * (x[i] - mean);
    return total;
  }

  function distortion(x, labels) {
    let total = 0, s = 0;
    for (let u = 1; u <= N; u++) {
      if (u < N && labels[u] === labels[s]) continue;
      total += spread(x, s, u);
      s = u;
    }
    return total;
  }

  /** The least costs F(0), ..., F(6) and, for each, where the last segment begins. */
  function program(x, price) {
    const least = [0], starts = [0];
    for (let u = 1; u <= N; u++) {
      let best = Infinity, from = 0;
      for (let s = 0; s < u; s++) {
        const cost = least[s] + spread(x, s, u) + price;
        if (cost < best - 1e-9) [best, from] = [cost, s];
      }
      least.push(best);
      starts.push(from);
    }
    const begins = [];
    for (let u = N; u > 0; u = starts[u]) begins.push(starts[u]);
    return { least, starts, labels: labelsOf((i) => begins.includes(i)) };
  }

  /** The numbers of segments on the lower hull: best for some price. */
  function hull(path) {
    return live.range(N).filter((k) => {
      let low = 0, high = Infinity;
      path.forEach((D, j) => {
        if (j > k) low = Math.max(low, (path[k] - D) / (j - k));
        if (j < k) high = Math.min(high, (path[k] - D) / (j - k));
      });
      return low <= high + 1e-9;
    }).map((k) => k + 1);
  }

  /** The metrics b from low to high for which all leads, b × longer + prices, are at least 0. */
  function right(more) {
    let low = 0, high = 1e6;
    for (const [longer, prices] of more) {
      if (longer > 1e-9) low = Math.max(low, -prices / longer);
      else if (longer < -1e-9) high = Math.min(high, -prices / longer);
      else if (prices < 0) high = -1;
    }
    return [low, high];
  }

  function compute({ x, price }) {
    const found = program(x, price), D = ALL.map(({ labels }) => distortion(x, labels));
    const more = ALL.map(({ count }, i) => [D[i] - D[TRUE], count - 3]);
    const leads = more.map(([longer, prices]) => longer / price + prices);
    const others = live.range(ALL.length).filter((i) => i !== TRUE);
    const lack = (i) => ALL[i].loss - leads[i];
    const worst = others.reduce((best, i) => (lack(i) > lack(best) + 1e-9 ? i : best), TRUE);
    const path = live.range(N).map((k) =>
      Math.min(...D.filter((_, i) => ALL[i].count === k + 1)));
    return {
      ...found,
      distortion: distortion(x, found.labels),
      loss: ALL[numberOf(found.labels)].loss,
      path,
      hull: hull(path),
      lines: ALL.map(({ loss }, i) => [loss - more[i][1], -more[i][0]]),
      leads,
      lead: Math.min(...others.map((i) => leads[i])),
      hinge: lack(worst),
      worst,
      right: right(others.map((i) => more[i])),
    };
  }

  // Where things are, in the units of their panel.
  const time = (i) => 40 + 48 * i, node = (u) => 16 + 48 * u, level = (v) => 182 - 19 * v;
  const count = (k) => 40 + 44 * k, cost = (c, top) => 225 - (195 * c) / top;
  const loss = (value) => 40 + 75 * value, lead = (v) => 175 - 28 * live.clamp(v, -2, 5);
  const TOP = 7.3, BOTTOM = -0.5; // of the hinge
  const metric = (b) => 40 + 270 * b, bracket = (h) => 210 - 25 * h;
  const fixed = (x) => live.fixed(x, 2);
  const short = (x) => live.fixed(x, 1).replace(".0", "");
  const line = (x1, y1, x2, y2) =>
    ({ x1: fixed(x1), y1: fixed(y1), x2: fixed(x2), y2: fixed(y2) });
  const visible = (yes) => (yes ? "visible" : "hidden");
  const WORDS = ["one segment", "two segments", "three segments", "four segments",
    "five segments", "six segments"];

  function sentence({ price }, r) {
    const k = r.labels[N - 1] + 1, gap = short(Math.abs(r.lead));
    const size = `${gap} ${gap === "1" ? "price" : "prices"}`;
    const truth = same(r.labels, TRUTH) ? `the true ones, ahead of all others by ${size}`
      : `not the true ones, which are ${size} behind`;
    return `Price ${short(price)}: ${WORDS[k - 1]}, ${truth}. Cost ${short(r.least[N])} = ` +
      `distortion ${short(r.distortion)} + ${k} × ${short(price)}. ` +
      `Hinge ${live.fixed(r.hinge, 2)}, loss Δ ${live.fixed(r.loss, 2)}.`;
  }

  function viewProgram({ x }, r, parts) {
    const begins = [0];
    for (let u = N; u > 0; u = r.starts[u]) begins.push(u);
    r.labels.forEach((c, i) => {
      const own = x.filter((_, j) => r.labels[j] === c);
      const y = fixed(level(own.reduce((sum, v) => sum + v, 0) / own.length));
      parts[`point-${i}`] = {
        transform: `translate(${time(i)} ${fixed(level(x[i]))})`,
        class: `mlbook-live-point mlbook-live-c${c}`,
      };
      parts[`level-${i}`] = { y1: y, y2: y, class: `mlbook-live-line${c}` };
    });
    for (let u = 1; u <= N; u++) {
      const s = r.starts[u], on = begins.includes(u);
      parts[`arc-${u}`] = {
        d: `M${node(s)} 219Q${(node(s) + node(u)) / 2} ${219 + 14 * (u - s)} ${node(u)} 219`,
        "stroke-width": on ? 3 : 1, opacity: on ? 1 : 0.6,
      };
      parts[`least-${u}`] = { text: short(r.least[u]) };
      parts[`cut-${u}`] = { visibility: visible(u < N && on) };
    }
  }

  function viewPath({ price }, r, parts) {
    const k = r.labels[N - 1] + 1, whole = r.least[N];
    const highest = Math.max(r.path[0], whole);
    const top = [40, 60, 80, 120].find((each) => each >= highest);
    r.path.forEach((D, i) => {
      parts[`path-${i}`] = {
        cy: fixed(cost(D, top)), "fill-opacity": r.hull.includes(i + 1) ? 1 : 0,
      };
    });
    parts.hull = {
      points: r.hull.map((j) => `${count(j)},${fixed(cost(r.path[j - 1], top))}`).join(" "),
    };
    const end = Math.min(7, whole / price);
    parts.touching = line(count(0), cost(whole, top), count(end), cost(whole - end * price, top));
    parts.chosen = { cx: count(k), cy: fixed(cost(r.path[k - 1], top)) };
    parts.whole = { cy: fixed(cost(whole, top)) };
    parts.top = { text: top };
    parts.half = { text: top / 2 };
  }

  function viewMargin({ x }, r, parts) {
    ALL.forEach((each, i) => {
      parts[`dot-${i}`] = {
        cy: fixed(lead(r.leads[i])), r: i === r.worst ? 5 : 3.5,
        class: r.leads[i] < each.loss - 1e-9 ? "mlbook-live-c1" : "mlbook-live-c0",
      };
    });
    const { loss: asked, labels } = ALL[r.worst];
    parts.lack = line(loss(asked), lead(asked), loss(asked), lead(r.leads[r.worst]));
    const pieces = x.map((v, i) => (i && labels[i] !== labels[i - 1] ? "| " : "") + short(v));
    parts.worst = {
      text: r.worst === TRUE ? "all keep the margin" : `worst: ${pieces.join(" ")}`,
    };
  }

  /** From where to where, between 0 and 1, a line is in the panel. */
  function inside(offset, slope) {
    if (slope === 0) return [0, 1];
    const ends = [(BOTTOM - offset) / slope, (TOP - offset) / slope].sort((a, b) => a - b);
    return [Math.max(0, ends[0]), Math.min(1, ends[1])];
  }

  function viewHinge({ price }, r, parts) {
    r.lines.forEach(([offset, slope], i) => {
      const [from, to] = inside(offset, slope), end = Math.max(from, to);
      parts[`line-${i}`] = line(metric(from), bracket(offset + slope * from),
        metric(end), bracket(offset + slope * end));
    });
    const corners = live.range(91).map((i) =>
      [i / 90, Math.max(...r.lines.map(([offset, slope]) => offset + (slope * i) / 90))]);
    parts.hinge = {
      points: corners.filter(([, h]) => h <= TOP)
        .map(([b, h]) => `${fixed(metric(b))},${fixed(bracket(h))}`).join(" "),
    };
    const [low, high] = r.right.map((b) => live.clamp(b, 0, 1));
    parts.band = { x: fixed(metric(low)), width: fixed(270 * Math.max(0, high - low)) };
    const b = fixed(metric(1 / price));
    parts.now = { x1: b, x2: b };
    parts.height = { cx: b, cy: fixed(bracket(Math.min(TOP, r.hinge))) };
  }

  function view(state, r) {
    const price = short(state.price), parts = { says: { text: sentence(state, r) } };
    for (const each of [viewProgram, viewPath, viewMargin, viewHinge]) each(state, r, parts);
    parts.price = { value: price, "aria-valuetext": `${price}, metric ${fixed(1 / state.price)}` };
    parts["price-text"] = { text: `${price}  (b = ${fixed(1 / state.price)})` };
    return parts;
  }

  const handles = ({ x }) => ({
    points: x.map((v, i) => ({
      x: time(i), y: level(v), says: `point ${i + 1}, value ${short(v)}`,
    })),
  });

  function drag(state, group, i, x, y) {
    const value = live.clamp(Math.round(((182 - y) / 19) * 10) / 10, 0, 8);
    return { ...state, x: state.x.map((old, j) => (j === i ? value : old)) };
  }

  const control = (state, name, value) => ({ ...state, [name]: value });

  live.figures.six_points = { compute, view, handles, drag, control, step: 9.5 };
})(globalThis.mlbookLive);
