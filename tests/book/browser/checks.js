// What tests/test_pages.py asks a page. Each function returns a list of faults, empty if all is well.
window.pageChecks = {
  // Everything that folds is opened: solutions, code cells.
  unfold() {
    for (const fold of document.querySelectorAll("main details")) fold.open = true;
    for (const button of document.querySelectorAll("button.toggle-button[aria-expanded=false]")) button.click();
  },

  // A few frames later: what the page does when its size changes is done.
  async settled() {
    for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
  },

  theme(mode) {
    document.documentElement.dataset.mode = document.documentElement.dataset.theme = mode;
  },

  // Raw TeX in the text, formulas that were not typeset, MathJax's errors (a box, or red for an
  // unknown command), formulas a screen reader cannot read.
  maths() {
    const faults = [];
    const untouched = "pre, code, script, style, noscript, mjx-container, .math, .highlight";
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const { nodeValue, parentElement } = texts.currentNode;
      if (/\$|\\[()[\]]|\\begin\{/.test(nodeValue) && !parentElement.closest(untouched))
        faults.push(`raw: ${nodeValue.trim().slice(0, 80)}`);
    }
    for (const source of document.querySelectorAll(".math.notranslate"))
      if (!source.querySelector("mjx-container")) faults.push(`not typeset: ${source.textContent}`);
    for (const error of document.querySelectorAll("mjx-merror, mjx-container [style*='color: red']"))
      faults.push(`MathJax error: ${error.textContent || error.outerHTML}`);
    for (const formula of document.querySelectorAll("mjx-container"))
      if (!formula.querySelector("mjx-assistive-mml")) faults.push(`silent: ${formula.outerHTML.slice(0, 80)}`);
    return faults;
  },

  // Pictures that do not show, or have nothing to say in their place.
  async images() {
    const faults = [];
    for (const image of document.images) {
      image.loading = "eager";
      await image.decode().catch(() => {});
      const name = image.src.slice(0, 120);
      if (!image.naturalWidth) faults.push(`does not show: ${name}`);
      const alt = (image.getAttribute("alt") || "").trim();
      if (alt.length < 10 || /\.(png|svg|jpe?g)$/i.test(alt)) faults.push(`alt text ${JSON.stringify(alt)}: ${name}`);
    }
    return faults;
  },

  // Figures are drawn for white paper: in the dark they need it under them.
  darkFigures() {
    const figures = [...document.querySelectorAll("main .cell_output img, main figure img")];
    return figures
      .filter((image) => getComputedStyle(image).backgroundColor !== "rgb(255, 255, 255)")
      .map((image) => `no white ground: ${image.alt}`);
  },

  // What a reader does besides moving sliders: answer the quiz, press the buttons.
  use() {
    const faults = [];
    for (const label of document.querySelectorAll(".mlbook-quiz label")) {
      label.click();
      const reasons = [...label.closest("fieldset").querySelectorAll("p")];
      if (reasons.filter((p) => getComputedStyle(p).display !== "none").length !== 1)
        faults.push(`no reason for the answer ${label.textContent}`);
    }
    for (const button of document.querySelectorAll("[onclick]")) {
      const name = button.getAttribute("onclick").match(/(\w+)\(\)$/)[1];
      let called = 0;
      window[name] = () => { called += 1; };
      button.click();
      if (called !== 1) faults.push(`a button does not call ${name}`);
    }
    return faults;
  },

  // Bring foreign code onto the page in many ways; what ran, and by which rules the rest was stopped.
  async injected() {
    const stopped = new Set();
    const stop = ({ effectiveDirective }) => stopped.add(effectiveDirective);
    document.addEventListener("securitypolicyviolation", stop);
    const box = document.body.appendChild(document.createElement("div"));
    const add = (name, values) => box.appendChild(Object.assign(document.createElement(name), values));
    window.ran = [];
    add("script", { textContent: "ran.push('script')" });
    add("script", { src: "https://example.org/a.js" });
    add("link", { rel: "stylesheet", href: "https://example.org/a.css" });
    add("img", { src: "https://example.org/a.png" });
    add("div", { innerHTML: `<b onclick="ran.push('handler')"></b>` }).firstChild.click();
    add("a", { href: "javascript:void ran.push('address')" }).click();
    setTimeout(() => { try { eval("ran.push('eval')"); } catch { /* stopped */ } });
    fetch("https://example.org/").catch(() => {});
    for (let wait = 0; stopped.size < 6 && wait < 30; wait++) await new Promise((f) => setTimeout(f, 100));
    document.removeEventListener("securitypolicyviolation", stop);
    box.remove();
    return { ran: [...new Set(ran)].sort(), stopped: [...stopped].sort() };
  },

  // Make the page smaller for axe, not different: of each kind of code token the first stays, and
  // a formula (whose glyphs have the colour of their text) keeps its box and loses its glyphs.
  thin() {
    const boxes = [...document.querySelectorAll("mjx-math")].map((m) => [m, m.getBoundingClientRect()]);
    for (const [formula, { width, height }] of boxes) {
      Object.assign(formula.style, { display: "inline-block", width: `${width}px`, height: `${height}px` });
      formula.replaceChildren();
    }
    const seen = new Set();
    for (const code of document.querySelectorAll(".highlight pre")) {
      const copy = code.cloneNode(true);
      for (const token of copy.querySelectorAll("span[class]")) {
        if (seen.has(token.className)) token.replaceWith(...token.childNodes);
        else seen.add(token.className);
      }
      copy.normalize();
      code.replaceWith(copy);
    }
    const still = document.createElement("style");
    still.textContent = "*, ::before, ::after { transition: none !important; animation: none !important }";
    document.head.append(still);
  },

  // Violations that axe-core finds, one line per element.
  async axe(runOnly) {
    const { violations } = await axe.run(document, { runOnly, preload: false, resultTypes: ["violations"] });
    return violations.flatMap(({ id, nodes }) =>
      nodes.map((n) => `${id}: ${n.target.join(" ")}: ${n.failureSummary.split("\n").slice(1).join(" ").trim()}`));
  },
};
