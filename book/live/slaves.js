/* Slaves and prices: dual decomposition of one training set, round by round. Twin: slaves.py, which
   says what a state is. */
"use strict";
(function (live) {
  const LEFT = 40, RIGHT = 306, TOP = 40, BOTTOM = 205; // of the panel of the bound

  const total = (values) => values.reduce((sum, x) => sum + x, 0);

  /** The slave of point p: what it compares, where it goes, what it opens, its minimum. */
  function pointSlave({ U, beta, printed }, shares, prices, p) {
    const theta = prices.map((price, q) => price + shares[q]);
    const bar = theta.map((t, q) => (q === p ? t : Math.max(t, 0) + U[p][q]));
    const chosen = bar.indexOf(Math.min(...bar));
    const right = theta.map((t, q) => q === chosen || (q !== p && t < 0));
    const open = printed ? theta.map((t, q) => (q === p ? q === chosen : t < 0)) : right;
    const others = theta.map((t, q) => (q === p ? 0 : Math.min(t, 0)));
    return { bar, chosen, open, value: bar[chosen] + total(others) - beta };
  }

  /** The slave of a cluster, likewise; it opens all that are cheap, or none. */
  function clusterSlave({ alpha }, shares, prices, members) {
    const bar = members.map((q) => prices[q] + shares[q]);
    const some = alpha + total(bar.map((t) => Math.min(t - alpha, 0)));
    const open = shares.map(() => false);
    members.forEach((q, i) => { open[q] = some < -alpha && bar[i] < alpha; });
    return { bar, chosen: null, open, value: Math.min(-alpha, some) };
  }

  function compute(state) {
    const { U, labels, lengths, round } = state, n = U.length;
    const shares = U.map((row, q) => row[q] / (n + 1));
    const clusters = live.range(Math.max(...labels) + 1).map((c) =>
      live.range(n).filter((q) => labels[q] === c));
    const owns = [...U.map(() => live.range(n)), ...clusters]; // the exemplars that a slave sees
    let prices = owns.map(() => Array(n).fill(0)), slaves = [], votes = [], moves = false;
    const bounds = [];
    for (let t = 0; ; t++) {
      slaves = owns.map((members, s) => (s < n ? pointSlave(state, shares, prices[s], s)
        : clusterSlave(state, shares, prices[s], members)));
      votes = live.range(n).map((q) => total(slaves.map(({ open }) => +open[q])));
      moves = votes.some((count) => count > 0 && count < n + 1);
      bounds.push(total(slaves.map(({ value }) => value)));
      if (t === round) break;
      prices = prices.map((row, s) => row.map((price, q) =>
        (owns[s].includes(q) ? price - lengths[t] * (votes[q] / (n + 1) - slaves[s].open[q]) : 0)));
    }
    return { owns, prices, slaves, votes, moves, bounds };
  }

  /** A number with at most two digits behind the point. */
  const short = (x) => String(Number(live.fixed(x, 2))).replace("-", "−");

  function sum(values) {
    const rest = values.slice(1).map((x) => (x < 0 ? ` − ${short(-x)}` : ` + ${short(x)}`));
    return short(values[0]) + rest.join("");
  }

  function does({ chosen, open, bar }, s, owns) {
    if (chosen === null) {
      const names = owns.filter((q) => open[q]).map((q) => q + 1);
      return names.length ? `opens ${names.join(", ")}` : "opens nothing";
    }
    return chosen === s ? "chooses itself" : `goes to ${chosen + 1}${open[chosen] ? "" : " (closed)"}`;
  }

  function sentence({ round, lengths, least, printed }, { slaves, bounds, moves }) {
    const bound = bounds.at(-1);
    const start = `Round ${round}: the minima of the slaves, ` +
      `${sum(slaves.map(({ value }) => value))}, add up to the bound ${short(bound)}.`;
    if (Math.abs(bound - least) < 1e-9) {
      return `${start} No x costs less than ${short(least)}, and one costs just that: the proof is complete.`;
    }
    if (!moves) {
      return `${start} ${printed ? "Slaves go where they open nothing: nobody votes, so " : "All agree: "}` +
        "no fee moves any more.";
    }
    if (round === lengths.length) return `${start} The least of all x is ${short(least)}.`;
    return `${start} Next, with step ${short(lengths[round])}: who voted for an exemplar pays more for it, the others less.`;
  }

  function view(state, result) {
    const parts = {}, { bounds, votes, owns } = result, n = votes.length;
    result.slaves.forEach((slave, s) => {
      for (const q of owns[s]) {
        const border = slave.chosen === q ? "line" : "faint";
        parts[`cell-${s}-${q}`] = { class: `mlbook-live-${border}` };
        parts[`vote-${s}-${q}`] = { r: slave.open[q] ? 5 : 0 };
        parts[`price-${s}-${q}`] = { text: short(result.prices[s][q]) };
      }
      parts[`bar-${s}`] = { text: slave.bar.map(short).join(", ") };
      parts[`does-${s}`] = { text: `${does(slave, s, owns[s])}: ${short(slave.value)}` };
    });
    votes.forEach((count, q) => { parts[`votes-${q}`] = { text: `${count} of ${n + 1}` }; });
    const [low, high] = state.shown;
    const places = bounds.map((bound, t) => [
      LEFT + ((RIGHT - LEFT) * t) / state.lengths.length,
      BOTTOM - ((BOTTOM - TOP) * (live.clamp(bound, low, high) - low)) / (high - low),
    ]);
    const [x, y] = places.at(-1).map((value) => live.fixed(value, 2));
    parts.climb = { d: `M${places.map((at) => at.map((v) => live.fixed(v, 2)).join(" ")).join("L")}` };
    parts.now = { cx: x, cy: y };
    parts.bound = { text: short(bounds.at(-1)) };
    parts.best = { text: short(Math.max(...bounds)) };
    parts.done = { text: `${state.round} of ${state.lengths.length}` };
    parts.round = { value: state.round, "aria-valuetext": `round ${state.round}, bound ${short(bounds.at(-1))}` };
    parts["round-text"] = { text: state.round };
    for (const rule of ["completed", "printed"]) {
      parts[`rule-${rule}`] = { checked: state.printed === (rule === "printed") };
    }
    parts.says = { text: sentence(state, result) };
    return parts;
  }

  const later = (state) => ({ ...state, round: Math.min(state.round + 1, state.lengths.length) });

  function control(state, name, value) {
    if (name === "next") return later(state);
    return name === "rule" ? { ...state, printed: value === "printed" } : { ...state, [name]: value };
  }

  const tick = (state) => (state.round < state.lengths.length ? later(state) : null);

  live.figures.slaves = { compute, view, control, tick, interval: 1500 };
})(globalThis.mlbookLive);
