/* What all live figures share: numerics, and the code that moves an SVG that Python drew.

A classic script without imports. It extends one global, so that the same text runs on a page, in a
notebook (anywidget) and in Node. Nothing is random here.

A figure is a file NAME.js that says `mlbookLive.figures.NAME = {...}` with

  compute(state) -> result      All that is calculated. JSON in, JSON out, the state is not changed.
                                NAME.py has the same `compute` (parity is tested).
  view(state, result) -> parts  {part: {attribute: value}}. A part is an element that Python marked
                                data-part="..."; "text" is its text; true and false set and remove.
                                NAME.py has the same `view`. Put every attribute that can change in
                                it; the part "says" is the sentence that is read out on release.
  handles(state, result) -> {group: [{x, y, panel, says}, ...]}
                                What can be dragged: position in the units of the SVG number
                                `panel` (0 if left out), and a short text (aria-valuetext). A group
                                is one tab stop; Python drew it by `group(...)`. May be left out.
  drag(state, group, i, x, y) -> state
                                The state when handle i of a group is put to (x, y). Clamp here.
  press(state, group, i) -> state   On a click without a drag, Enter or Space. May be left out.
  control(state, name, value) -> state
                                An <input> or <button> of that name was used; a range gives a
                                number, a checkbox true or false. <button name="reset"> needs no
                                code: it brings the first state back.
  tick(state) -> state or null  One step of <button name="play">, null at the end; every
                                `interval` milliseconds (default 700). May be left out.
  step                          Units of the SVG that an arrow key moves a handle (default 6; with
                                Shift a fifth).

All functions but `compute` are cheap, all are pure: they return a new state. */
"use strict";
globalThis.mlbookLive = globalThis.mlbookLive || {};
(function (live) {
  live.figures = live.figures || {};

  // Numerics -------------------------------------------------------------------------------------

  live.transpose = (A) => A[0].map((_, j) => A.map((row) => row[j]));
  live.product = (A, B) =>
    A.map((row) => B[0].map((_, j) => row.reduce((sum, a, i) => sum + a * B[i][j], 0)));
  live.dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
  live.squaredDistance = (a, b) => {
    let sum = 0;
    for (let i = 0; i < a.length; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum;
  };
  live.clamp = (x, low, high) => Math.min(high, Math.max(low, x));
  live.range = (n) => Array.from({ length: n }, (_, i) => i);

  /** The mean of rows. */
  live.mean = (rows) => live.transpose(rows).map((c) => c.reduce((s, x) => s + x, 0) / rows.length);

  /** Write a number with fixed digits, halves away from zero, never "-0". As markup.fixed. */
  live.fixed = (x, digits) => {
    const text = Math.abs(x).toFixed(digits);
    return x < 0 && Number(text) !== 0 ? "-" + text : text;
  };

  /** Thin singular value decomposition A = U diag(s) Vᵀ by one-sided Jacobi rotations of A's
      columns; s falls. Columns of U with s = 0 are zero. */
  live.svd = (A) => {
    if (A.length < A[0].length) {
      const { U, s, V } = live.svd(live.transpose(A));
      return { U: V, s, V: U };
    }
    const columns = live.transpose(A), n = columns.length;
    const V = live.range(n).map((i) => live.range(n).map((j) => Number(i === j)));
    for (let sweep = 0, turned = true; turned && sweep < 60; sweep++) {
      turned = false;
      for (let p = 0; p < n; p++) {
        for (let q = p + 1; q < n; q++) {
          const a = live.dot(columns[p], columns[p]), b = live.dot(columns[q], columns[q]);
          const c = live.dot(columns[p], columns[q]);
          if (Math.abs(c) <= 1e-15 * Math.sqrt(a * b)) continue;
          turned = true;
          const zeta = (b - a) / (2 * c);
          const t = (zeta < 0 ? -1 : 1) / (Math.abs(zeta) + Math.hypot(1, zeta));
          rotate(columns, p, q, t);
          rotate(V, p, q, t);
        }
      }
    }
    const lengths = columns.map((c) => Math.sqrt(live.dot(c, c)));
    const order = live.range(n).sort((i, j) => lengths[j] - lengths[i]);
    const U = order.map((i) => columns[i].map((x) => (lengths[i] > 0 ? x / lengths[i] : 0)));
    return {
      U: live.transpose(U), s: order.map((i) => lengths[i]),
      V: live.transpose(order.map((i) => V[i])),
    };
  };

  /** Rotate two rows of a list of vectors by the angle of tangent t. */
  function rotate(vectors, p, q, t) {
    const c = 1 / Math.hypot(1, t), s = c * t, a = vectors[p], b = vectors[q];
    for (let i = 0; i < a.length; i++) {
      const x = a[i];
      a[i] = c * x - s * b[i];
      b[i] = s * x + c * b[i];
    }
  }

  /** A†B, the least-squares solution of smallest norm; singular values below `cut` times the
      largest count as zero. */
  live.leastSquares = (A, B, cut = 1e-10) => {
    const { U, s, V } = live.svd(A);
    const inner = live.product(live.transpose(U), B);
    const scaled = inner.map((row, i) => row.map((x) => (s[i] > cut * s[0] ? x / s[i] : 0)));
    return live.product(V, scaled);
  };

  /** Eigenvalues, falling, and eigenvectors (columns) of a symmetric matrix, by cyclic Jacobi
      rotations. The entry of a vector that is largest in size is positive (ties: the first). */
  live.eigh = (matrix) => {
    const n = matrix.length, A = matrix.map((row) => row.slice());
    const V = live.range(n).map((i) => live.range(n).map((j) => Number(i === j)));
    const size = Math.sqrt(A.reduce((sum, row) => sum + live.dot(row, row), 0));
    for (let sweep = 0, turned = true; turned && sweep < 60; sweep++) {
      turned = false;
      for (let p = 0; p < n; p++) {
        for (let q = p + 1; q < n; q++) {
          if (Math.abs(A[p][q]) <= 1e-16 * size) continue;
          turned = true;
          const zeta = (A[q][q] - A[p][p]) / (2 * A[p][q]);
          const t = (zeta < 0 ? -1 : 1) / (Math.abs(zeta) + Math.hypot(1, zeta));
          const c = 1 / Math.hypot(1, t), s = c * t;
          for (const row of A) {
            const x = row[p];
            row[p] = c * x - s * row[q];
            row[q] = s * x + c * row[q];
          }
          rotate(A, p, q, t);
          rotate(V, p, q, t);
        }
      }
    }
    const order = live.range(n).sort((i, j) => A[j][j] - A[i][i]);
    const vectors = order.map((i) => {
      const most = Math.max(...V[i].map(Math.abs));
      const sign = V[i].find((x) => Math.abs(x) > most - 1e-9) < 0 ? -1 : 1;
      return V[i].map((x) => sign * x);
    });
    return { values: order.map((i) => A[i][i]), vectors: live.transpose(vectors) };
  };

  /** k-means without chance: Lloyd's algorithm from 16 starts, the smallest distortion wins (a later
      start must be better by 1e-9 of it). The rows that begin are those at the multiples of the
      golden ratio, modulo 1, of the number of rows. A cluster without a row gets the one farthest
      from its own centre. */
  live.kmeans = (rows, k) => {
    let best = null;
    for (let start = 0; start < 16; start++) {
      const taken = live.range(k).map((j) => ((start * k + j + 1) * 0.6180339887498949) % 1);
      const found = lloyd(rows, taken.map((share) => rows[Math.floor(share * rows.length)]));
      if (best === null || found.distortion < best.distortion * (1 - 1e-9)) best = found;
    }
    return best;
  };

  function lloyd(rows, start) {
    const k = start.length, labels = rows.map(() => -1), own = rows.map(() => 0);
    let centres = start;
    for (let round = 0, moved = true; moved && round < 100; round++) {
      if (round > 0) centres = means(rows, labels, k);
      const before = labels.slice();
      for (let i = 0; i < rows.length; i++) {
        own[i] = Infinity;
        for (let c = 0; c < k; c++) {
          const away = live.squaredDistance(rows[i], centres[c]);
          if (away < own[i]) { own[i] = away; labels[i] = c; }
        }
      }
      fillEmpty(labels, own, k);
      moved = labels.some((c, i) => c !== before[i]);
    }
    centres = means(rows, labels, k);
    const distortion = rows.reduce((s, row, i) => s + live.squaredDistance(row, centres[labels[i]]), 0);
    return { labels, centres, distortion };
  }

  function means(rows, labels, k) {
    const sums = live.range(k).map(() => rows[0].map(() => 0)), counts = Array(k).fill(0);
    for (let i = 0; i < rows.length; i++) {
      counts[labels[i]] += 1;
      for (let j = 0; j < rows[i].length; j++) sums[labels[i]][j] += rows[i][j];
    }
    return sums.map((row, c) => row.map((x) => x / counts[c]));
  }

  function fillEmpty(labels, own, k) {
    const counts = Array(k).fill(0);
    for (const c of labels) counts[c] += 1;
    for (let c = 0; c < k; c++) {
      if (counts[c] > 0) continue;
      const far = labels.map((l, i) => (counts[l] === 1 ? -1 : own[i]));
      const i = far.indexOf(Math.max(...far));
      counts[labels[i]] -= 1;
      counts[c] = 1;
      labels[i] = c;
      own[i] = 0;
    }
  }

  /** The Hungarian method: the columns, one for each row, with the smallest sum of costs. Needs as
      many columns as rows, or more. */
  live.assign = (cost) => {
    const n = cost.length, m = cost[0].length;
    const u = Array(n + 1).fill(0), v = Array(m + 1).fill(0), row = Array(m + 1).fill(0);
    for (let i = 1; i <= n; i++) {
      const least = Array(m + 1).fill(Infinity), used = Array(m + 1).fill(false);
      const way = Array(m + 1).fill(0);
      let j = 0;
      row[0] = i;
      while (row[j] !== 0) {
        used[j] = true;
        const r = row[j];
        let delta = Infinity, next = 0;
        for (let c = 1; c <= m; c++) {
          if (used[c]) continue;
          const reduced = cost[r - 1][c - 1] - u[r] - v[c];
          if (reduced < least[c]) { least[c] = reduced; way[c] = j; }
          if (least[c] < delta) { delta = least[c]; next = c; }
        }
        for (let c = 0; c <= m; c++) {
          if (used[c]) { u[row[c]] += delta; v[c] -= delta; } else least[c] -= delta;
        }
        j = next;
      }
      for (; j !== 0; j = way[j]) row[j] = row[way[j]];
    }
    const columns = Array(n).fill(-1);
    for (let c = 1; c <= m; c++) if (row[c] > 0) columns[row[c] - 1] = c - 1;
    return columns;
  };

  /** How many items have label i in a and label j in b. */
  live.contingency = (a, b, k, l = k) => {
    const table = live.range(k).map(() => Array(l).fill(0));
    a.forEach((c, i) => { table[c][b[i]] += 1; });
    return table;
  };

  /** Rename the clusters 0..k-1 so that as many items as possible have the label of `like`. Up to
      four clusters the first best order of all is taken. */
  live.align = (labels, like, k) => {
    const cost = live.contingency(labels, like, k).map((row) => row.map((count) => -count));
    const names = k <= 4 ? bestOrder(cost) : live.assign(cost);
    return labels.map((c) => names[c]);
  };

  function bestOrder(cost) {
    let best = null, least = Infinity;
    (function extend(order, sum) {
      if (order.length === cost.length) {
        if (sum < least) { least = sum; best = order; }
        return;
      }
      for (const j of live.range(cost.length)) {
        if (!order.includes(j)) extend([...order, j], sum + cost[order.length][j]);
      }
    })([], 0);
    return best;
  }

  /** Δ of two partitions, the squared norm of the difference of their matrices. */
  live.delta = (a, b) => {
    const k = Math.max(...a) + 1, l = Math.max(...b) + 1, table = live.contingency(a, b, k, l);
    const sum = (row) => row.reduce((s, x) => s + x, 0);
    const rows = table.map(sum), columns = live.transpose(table).map(sum);
    let overlap = 0;
    table.forEach((row, i) => row.forEach((n, j) => {
      if (n > 0) overlap += (n * n) / (rows[i] * columns[j]);
    }));
    const filled = (sums) => sums.filter((n) => n > 0).length;
    return Math.max(0, filled(rows) + filled(columns) - 2 * overlap);
  };

  // Moving a figure ------------------------------------------------------------------------------

  const REACH = { touch: 22, other: 12 }; // pixels between a pointer and the handle it takes
  const SLACK = { touch: 8, other: 3 }; // pixels that a pointer may move and still press
  const kind = (event) => (event.pointerType === "touch" ? "touch" : "other");

  /** Make a figure move. `changed` is called with the state on release. Returns {state,
      handles, set, stop}: read the state and the handles, set the state from outside, end. */
  live.wake = (root, { state = null, changed = () => {} } = {}) => {
    const spec = live.figures[root.dataset.live];
    const first = JSON.parse(root.querySelector("script.mlbook-live-state").textContent);
    const now = { state: state || first, result: null, handles: {} };
    const chosen = {}; // the handle of each group that the keyboard moves
    const parts = collect(root, "part"), groups = collect(root, "group");
    const panels = [...root.querySelectorAll("svg")];
    const says = parts.get("says");
    const ending = new AbortController(), on = { signal: ending.signal };
    let frame = 0, timer = 0;

    function draw() {
      frame = 0;
      now.result = spec.compute(now.state);
      now.handles = spec.handles ? spec.handles(now.state, now.result) : {};
      for (const [name, attributes] of Object.entries(spec.view(now.state, now.result))) {
        if (name !== "says") change(parts.get(name), attributes);
      }
      for (const [name, element] of groups) mark(element, now.handles[name], chosen[name] || 0);
    }
    function go(next) {
      now.state = next;
      if (!frame) frame = requestAnimationFrame(draw);
    }
    function release() {
      if (frame) { cancelAnimationFrame(frame); draw(); }
      if (says) change(says, spec.view(now.state, now.result).says);
      changed(now.state);
    }

    // Pointers: the nearest handle within reach, so that touching elsewhere scrolls the page.
    let held = null;
    function nearest(event, panel) {
      const at = place(event, panels[panel]);
      const reach = (REACH[kind(event)]) / at.scale;
      let best = null;
      for (const [group, handles] of Object.entries(now.handles)) {
        handles.forEach((handle, i) => {
          const away = Math.hypot(handle.x - at.x, handle.y - at.y);
          if ((handle.panel || 0) === panel && away <= reach && (!best || away < best.away)) {
            best = { group, i, away, dx: handle.x - at.x, dy: handle.y - at.y, moved: false };
          }
        });
      }
      return best;
    }
    panels.forEach((svg, panel) => {
      svg.addEventListener("pointerdown", (event) => {
        if (held || event.button !== 0) return;
        if (frame) { cancelAnimationFrame(frame); draw(); }
        held = nearest(event, panel);
        if (!held) return;
        Object.assign(held, { pointer: event.pointerId, x: event.clientX, y: event.clientY });
        chosen[held.group] = held.i;
        svg.setPointerCapture(event.pointerId);
        svg.classList.add("mlbook-live-held");
        if (event.pointerType !== "touch") event.preventDefault(); // no text is selected
      }, on);
      // A finger near a handle moves it; elsewhere the page scrolls.
      const keep = (event) => { if (held) event.preventDefault(); };
      svg.addEventListener("touchstart", keep, { passive: false, ...on });
      svg.addEventListener("touchmove", keep, { passive: false, ...on });
      svg.addEventListener("pointermove", (event) => {
        if (!held) {
          if (event.pointerType === "mouse") {
            svg.classList.toggle("mlbook-live-near", nearest(event, panel) !== null);
          }
          return;
        }
        if (event.pointerId !== held.pointer) return;
        held.moved ||= Math.hypot(event.clientX - held.x, event.clientY - held.y) > SLACK[kind(event)];
        if (!held.moved || !spec.drag) return;
        const at = place(event, svg);
        go(spec.drag(now.state, held.group, held.i, at.x + held.dx, at.y + held.dy));
      }, on);
      const drop = (event) => {
        if (!held || event.pointerId !== held.pointer) return;
        const { moved, group, i } = held;
        held = null;
        svg.classList.remove("mlbook-live-held");
        if (!moved && spec.press && event.type === "pointerup") {
          go(spec.press(now.state, group, i));
        } else if (!moved) {
          mark(groups.get(group), now.handles[group], i);
          return;
        }
        release();
      };
      svg.addEventListener("pointerup", drop, on);
      svg.addEventListener("pointercancel", drop, on);
    });

    // Keys: one tab stop for a group; PageUp and PageDown choose a handle, arrows move it (or choose
    // one too, where nothing can be moved).
    const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    for (const [group, element] of groups) {
      let waiting = false;
      element.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const handles = now.handles[group], i = Math.min(chosen[group] || 0, handles.length - 1);
        const choose = { PageUp: i - 1, PageDown: i + 1, Home: 0, End: handles.length - 1 };
        if (!spec.drag) Object.assign(choose, { ArrowLeft: i - 1, ArrowRight: i + 1 });
        const to = choose[event.key];
        const arrow = ARROWS[event.key];
        if (to !== undefined) {
          chosen[group] = (to + handles.length) % handles.length;
          mark(element, handles, chosen[group]);
        } else if (arrow && spec.drag) {
          const step = (spec.step || 6) * (event.shiftKey ? 0.2 : 1);
          const { x, y } = handles[i];
          now.state = spec.drag(now.state, group, i, x + step * arrow[0], y + step * arrow[1]);
          draw();
          waiting = true;
        } else if ((event.key === "Enter" || event.key === " ") && spec.press) {
          now.state = spec.press(now.state, group, i);
          draw();
          waiting = true;
        } else return;
        event.preventDefault();
        event.stopPropagation();
      }, on);
      for (const end of ["keyup", "blur"]) {
        element.addEventListener(end, () => {
          if (waiting) release();
          waiting = false;
        }, on);
      }
    }

    // Native controls.
    function play(button) {
      clearInterval(timer);
      const playing = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(playing));
      if (!playing) { release(); return; }
      timer = setInterval(() => {
        const next = root.isConnected ? spec.tick(now.state) : null;
        if (next !== null) { go(next); release(); }
        if (next === null || spec.tick(next) === null) play(button);
      }, spec.interval || 700);
    }
    root.addEventListener("input", (event) => {
      const { name, type, value, checked } = event.target;
      const given = { range: Number(value), number: Number(value), checkbox: checked }[type];
      go(spec.control(now.state, name, given === undefined ? value : given));
    }, on);
    root.addEventListener("change", release, on);
    root.addEventListener("submit", (event) => event.preventDefault(), on);
    root.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (!button || !root.contains(button)) return;
      if (button.name === "play") { play(button); return; }
      go(button.name === "reset" ? first : spec.control(now.state, button.name, button.value));
      release();
    }, on);

    for (const svg of panels) svg.setAttribute("role", "group");
    for (const element of groups.values()) {
      element.setAttribute("role", "slider");
      element.setAttribute("tabindex", "0");
    }
    for (const set of root.querySelectorAll("fieldset[disabled]")) set.disabled = false;
    for (const node of root.querySelectorAll("input, button, select, [tabindex]")) {
      node.setAttribute("data-lm-suppress-shortcuts", "true"); // JupyterLab's keys act on cells
    }
    draw();
    if (state && says) change(says, spec.view(now.state, now.result).says);
    root.classList.add("mlbook-live-awake");
    return {
      get state() { return now.state; },
      get handles() { return now.handles; },
      set(next) { now.state = next; draw(); if (says) change(says, spec.view(next, now.result).says); },
      stop() { clearInterval(timer); cancelAnimationFrame(frame); ending.abort(); },
    };
  };

  function collect(root, key) {
    const found = [...root.querySelectorAll(`[data-${key}]`)];
    return new Map(found.map((element) => [element.dataset[key], element]));
  }

  /** Where a pointer is, in the units of the SVG, and how many pixels a unit has. */
  function place(event, svg) {
    const to = svg.getScreenCTM();
    return { x: (event.clientX - to.e) / to.a, y: (event.clientY - to.f) / to.d, scale: to.a };
  }

  /** Write the attributes that differ; nothing else is touched. */
  function change(element, attributes) {
    for (const [name, value] of Object.entries(attributes)) {
      if (name === "text") {
        if (element.textContent !== String(value)) element.textContent = value;
      } else if (name === "value" || name === "checked") {
        if (element[name] !== (name === "value" ? String(value) : value)) element[name] = value;
      } else if (value === false || value === null) {
        element.removeAttribute(name);
      } else if (element.getAttribute(name) !== (value === true ? "" : String(value))) {
        element.setAttribute(name, value === true ? "" : value);
      }
    }
  }

  /** Put the ring of a group round its chosen handle and say which one it is. */
  function mark(element, handles, i) {
    if (!element || !handles || !handles.length) return;
    const at = Math.min(i, handles.length - 1), { x, y, says } = handles[at];
    change(element.querySelector(".mlbook-live-ring"), { cx: live.fixed(x, 2), cy: live.fixed(y, 2) });
    change(element, {
      "aria-valuemin": 1, "aria-valuemax": handles.length, "aria-valuenow": at + 1,
      "aria-valuetext": handles.length > 1 ? `${says} (${at + 1} of ${handles.length})` : says,
    });
  }
})(globalThis.mlbookLive);
