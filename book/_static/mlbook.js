// Formulas, tables and code wider than the space they have, above all on a phone.
// A formula first shrinks to as little as 70%; what is still too wide scrolls in its own box
// (mlbook.css), and whatever scrolls can be reached with the keyboard. MathJax makes its formulas
// reachable itself.
(() => {
  const SMALLEST = 0.7;

  const inner = (element) => {
    const style = getComputedStyle(element);
    return element.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
  };

  const fit = () => {
    const formulas = [...document.querySelectorAll("article mjx-container")];
    for (const formula of formulas) formula.style.fontSize = "";
    const room = new Map();
    const measured = formulas.map((formula) => {
      const block = formula.parentElement.closest("p, li, dt, dd, td, th, figcaption, div, section");
      if (!room.has(block)) room.set(block, inner(block));
      return [formula, room.get(block), formula.querySelector("mjx-math").getBoundingClientRect().width];
    });
    for (const [formula, available, width] of measured) {
      const wide = available > 0 && width > available + 1 && !formula.closest("table");
      formula.classList.toggle("mlbook-wide", wide && width * SMALLEST > available);
      if (wide) {
        const scale = Math.max(SMALLEST, available / width);
        const now = parseFloat(getComputedStyle(formula).fontSize);
        formula.style.fontSize = `${now * scale}px`;
      }
    }
    const boxes = "article :is(pre, .pst-scrollable-table-container, .cell_output .text_html table)";
    for (const box of document.querySelectorAll(boxes)) {
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  };

  window.addEventListener("load", async () => {
    await window.MathJax?.startup?.promise;
    const article = document.querySelector("article");
    if (!article) return;
    let waiting = 0;
    // The article's size changes with the window's width and whenever a solution is opened.
    new ResizeObserver(() => {
      cancelAnimationFrame(waiting);
      waiting = requestAnimationFrame(fit);
    }).observe(article);
  });
})();

// A link to a claim opens the mark that it is folded into.
(() => {
  const unfold = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const fold = target?.closest("details.mlbook-claims");
    if (!fold || fold.open) return;
    fold.open = true;
    target.scrollIntoView();
  };
  window.addEventListener("load", unfold);
  window.addEventListener("hashchange", unfold);
})();
