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

  // Raw TeX in the text, formulas that show nothing, formulas that the keyboard stops at though
  // they fit.
  maths() {
    const faults = [];
    const untouched = "pre, code, script, style, noscript, math, .highlight";
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const { nodeValue, parentElement } = texts.currentNode;
      if (/\$|\\[()[\]]|\\begin\{/.test(nodeValue) && !parentElement.closest(untouched))
        faults.push(`raw: ${nodeValue.trim().slice(0, 80)}`);
    }
    for (const place of document.querySelectorAll(".math"))
      if (!place.querySelector("math")) faults.push(`not converted: ${place.textContent}`);
    for (const formula of document.querySelectorAll("math")) {
      const { width, height } = formula.getBoundingClientRect();
      if (formula.querySelector("merror")) faults.push(`error: ${formula.textContent}`);
      if (formula.checkVisibility() && !(width && height)) faults.push(`empty: ${formula.outerHTML}`);
    }
    for (const place of document.querySelectorAll(":is(.math, math, .math *, math *)[tabindex]"))
      if (place.scrollWidth <= place.clientWidth) faults.push(`a tab stop: ${place.textContent}`);
    return faults;
  },

  // Where the target of the page's address is, from where it should be; 0 as well where the page
  // ends before it.
  missed() {
    const page = document.documentElement;
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const top = target.getBoundingClientRect().top - (parseFloat(getComputedStyle(page).scrollPaddingTop) || 0)
      - parseFloat(getComputedStyle(target).scrollMarginTop);
    const ends = top > 0 && scrollY + innerHeight >= page.scrollHeight - 2;
    return ends ? 0 : Math.abs(top);
  },

  // Pictures that do not show, stand in empty or stretched space, or have nothing to say in their
  // place.
  async images() {
    const faults = [];
    for (const image of document.images) {
      image.loading = "eager";
      await image.decode().catch(() => {});
      const name = image.src.slice(0, 120);
      if (!image.naturalWidth) faults.push(`does not show: ${name}`);
      const stretched = (image.width * image.naturalHeight) / (image.height * image.naturalWidth);
      if (Math.abs(stretched - 1) > .05) faults.push(`not in its shape: ${name}`);
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
  // a formula (whose glyphs have the colour of their text) becomes a box of its size.
  thin() {
    const boxes = [...document.querySelectorAll("math")].map((m) => [m, m.getBoundingClientRect()]);
    for (const [formula, { width, height }] of boxes) {
      const box = document.createElement("span");
      Object.assign(box.style, { display: "inline-block", width: `${width}px`, height: `${height}px` });
      formula.replaceWith(box);
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
