// The search of the book, over the text that tools/search_pages.py wrote.
// All words must stand in a section or in its page's title, as whole words: "rand" does not find
// "random". If nothing is found, a word also stands for those that begin with it.
globalThis.mlbookSearch = (() => {
  "use strict";
  const GREEK = {
    alpha: "α", beta: "β", gamma: "γ", delta: "δ", epsilon: "ε", zeta: "ζ", eta: "η", theta: "θ",
    kappa: "κ", lambda: "λ", mu: "μ", nu: "ν", xi: "ξ", pi: "π", rho: "ρ", sigma: "σ", tau: "τ",
    phi: "φ", chi: "χ", psi: "ψ", omega: "ω",
  };

  // Small letters without accents; mathematical letters become plain ones: 𝜆 is λ.
  const plain = (text) => text.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").toLowerCase();
  const words = (text) => plain(text).match(/[\p{L}\p{N}]+/gu) ?? [];
  const singular = (word) => (word.length > 3 ? word.replace(/(?<=[^s])s$/, "") : word);
  const key = (word) => GREEK[word] ?? singular(word);

  let index = null;
  function prepare(pages) {
    index = [];
    pages.forEach(([page, title, least, sections], order) => {
      const inTitle = new Set(words(title).map(key));
      sections.forEach(([name, heading, text], i) => {
        const counts = new Map();
        for (const word of words(text).map(key)) counts.set(word, (counts.get(word) ?? 0) + 1);
        const inHeading = new Set(words(i ? heading : title).map(key));
        index.push({ page, title, least, order, name, heading, text, counts, inHeading, inTitle });
      });
    });
  }

  // How well a section fits; 0 if a word is missing.
  function score(section, asked, begins) {
    let total = 0, own = 0;
    for (const word of asked) {
      const fits = begins ? (each) => each.startsWith(word) : (each) => each === word;
      let count = 0;
      if (begins) for (const [each, n] of section.counts) count += fits(each) ? n : 0;
      else count = section.counts.get(word) ?? 0;
      const heading = [...section.inHeading].some(fits), title = [...section.inTitle].some(fits);
      if (!count && !heading && !title) return 0;
      own += count + heading;
      total += Math.min(Math.log2(1 + count), 4) + 6 * heading + 9 * title;
    }
    if (!own) return 0;
    const phrase = asked.length > 1 && ` ${words(section.text).map(key).join(" ")} `.includes(` ${asked.join(" ")} `);
    return (total + 3 * phrase) / asked.length / (1 + section.least);
  }

  // The text around the first place where a word stands, with the words marked: [[text, marked], ...].
  function excerpt(text, asked, begins, length = 180) {
    const parts = [...text.matchAll(/[\p{L}\p{N}]+/gu)];
    const fits = (part) => words(part).map(key).some((each) => asked.some((w) => (begins ? each.startsWith(w) : each === w)));
    const hits = parts.filter((part) => fits(part[0]));
    const first = hits.length ? hits[0].index : 0;
    let start = Math.max(0, first - length / 3);
    if (start) start = text.indexOf(" ", start) + 1 || 0;
    let end = Math.min(text.length, start + length);
    if (end < text.length) end = Math.max(text.lastIndexOf(" ", end), first + 1);
    const pieces = start ? [["… ", false]] : [];
    let at = start;
    for (const hit of hits) {
      if (hit.index < at || hit.index + hit[0].length > end) continue;
      pieces.push([text.slice(at, hit.index), false], [hit[0], true]);
      at = hit.index + hit[0].length;
    }
    pieces.push([text.slice(at, end) + (end < text.length ? " …" : ""), false]);
    return pieces.filter(([piece]) => piece);
  }

  // The pages that fit, best first, each with its three best sections.
  function find(pages, query) {
    if (!index) prepare(pages);
    const asked = [...new Set(words(query).map(key))];
    if (!asked.length) return { asked, begins: false, found: [] };
    for (const begins of [false, true]) {
      const byPage = new Map();
      for (const section of index) {
        const value = score(section, asked, begins);
        if (value === 0) continue;
        if (!byPage.has(section.page)) byPage.set(section.page, []);
        byPage.get(section.page).push({ ...section, value });
      }
      const found = [...byPage.values()].map((list) => {
        list.sort((a, b) => b.value - a.value);
        return { page: list[0].page, title: list[0].title, order: list[0].order, value: list[0].value + Math.log2(list.length), sections: list.slice(0, 3) };
      });
      found.sort((a, b) => b.value - a.value || a.order - b.order);
      if (found.length || begins) return { asked, begins, found };
    }
  }

  function show(root, query) {
    const { asked, begins, found } = find(globalThis.mlbookPages, query);
    const make = (tag, text, into) => {
      const node = document.createElement(tag);
      if (text) node.textContent = text;
      into?.append(node);
      return node;
    };
    root.replaceChildren();
    const said = !asked.length ? "Type a word." : !found.length ? `Nothing is found for “${query}”.`
      : `${found.length} ${found.length === 1 ? "page" : "pages"} for “${query}”${begins ? ", as the beginning of a word" : ""}`;
    const status = make("p", said, root);
    status.className = "mlbook-found";
    const list = make("ol", "", root);
    const home = document.documentElement.dataset.content_root ?? "./";
    for (const each of found) {
      const item = make("li", "", list);
      const link = make("a", each.title, make("p", "", item));
      link.href = home + each.page;
      for (const section of each.sections) {
        const line = make("p", "", item);
        if (section.heading !== each.title) {
          const to = make("a", section.heading, line);
          to.href = `${home}${each.page}#${section.name}`;
          if (section.text) line.append(": ");
        }
        for (const [piece, marked] of excerpt(section.text, asked, begins)) {
          if (marked) make("mark", piece, line);
          else line.append(piece);
        }
      }
    }
    root.closest("[aria-live]") ?? root.setAttribute("aria-live", "polite");
  }

  if (typeof document !== "undefined") {
    document.addEventListener("DOMContentLoaded", () => {
      const root = document.getElementById("mlbook-results");
      const form = root?.parentElement.querySelector("form.bd-search");
      if (!form) return;
      const asked = new URLSearchParams(location.search).get("q") ?? "";
      form.elements.q.value = asked;
      form.elements.q.focus();
      if (asked) show(root, asked);
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        const query = form.elements.q.value;
        history.replaceState(null, "", `?q=${encodeURIComponent(query)}`);
        show(root, query);
      });
    });
  }
  return { find, excerpt, prepare };
})();
