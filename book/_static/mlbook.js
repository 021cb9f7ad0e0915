// Formulas, tables and code that are wider than the space they have scroll in their own box
// (mlbook.css). Whatever scrolls can be reached with the keyboard, and fades where it goes on.
(() => {
  const boxes = [
    "pre", ".mlbook-formula", ".pst-scrollable-table-container", ".cell_output .text_html table",
  ].map((box) => `article ${box}`).join();

  const fade = (box) => {
    box.classList.toggle("mlbook-more", box.scrollLeft + box.clientWidth < box.scrollWidth - 1);
  };

  const reach = () => {
    for (const box of document.querySelectorAll(boxes)) {
      fade(box);
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  };

  window.addEventListener("load", () => {
    const article = document.querySelector("article");
    if (!article) return;
    const scrolled = ({ target }) => target.matches?.(boxes) && fade(target);
    article.addEventListener("scroll", scrolled, { capture: true, passive: true });
    let waiting = 0;
    // The article's size changes with the window's width and whenever a solution is opened.
    new ResizeObserver(() => {
      cancelAnimationFrame(waiting);
      waiting = requestAnimationFrame(reach);
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

// Beside "Skip to main content": the first figure that a reader can move.
addEventListener("DOMContentLoaded", () => {
  const figure = document.querySelector("article :is(figure.mlbook-live, figure.mlbook-explore)");
  const skip = document.getElementById("pst-skip-link");
  if (!figure || !skip) return;
  figure.id ||= "first-figure";
  const words = { href: `#${figure.id}`, textContent: "Skip to the first figure you can move" };
  skip.append(" ", Object.assign(document.createElement("a"), words));
});

// The answer of an exercise: a number that the reader types in. The sentences below the field say
// for which numbers they are meant.
(() => {
  const DECIMAL = String.raw`([+-]?(?:\d+[.,]?\d*|[.,]\d+)(?:e[+-]?\d+)?)`;
  const NUMBER = RegExp(`^${DECIMAL}(?:/${DECIMAL})?$`, "i");

  const read = (text) => {
    const found = NUMBER.exec(text.replace(/\s/g, "").replace(/[−–]/g, "-"));
    const [above, below = 1] = (found?.slice(1) ?? [NaN]).map((x) => x && Number(`${x}`.replace(",", ".")));
    return above / below;
  };

  const sentence = (form, text, unit) => {
    const number = read(unit && text.trim().endsWith(unit) ? text.trim().slice(0, -unit.length) : text);
    if (!Number.isFinite(number)) return form.querySelector("[data-else=unread]");
    const meant = (p) => Math.abs(number - p.dataset.value) <= Number(p.dataset.within);
    return [...form.querySelectorAll("p[data-value]")].find(meant) ?? form.querySelector("[data-else=wrong]");
  };

  const say = (form, shown) => {
    for (const p of form.querySelectorAll("p")) p.hidden = p !== shown;
  };

  addEventListener("submit", (event) => {
    const form = event.target.closest("form.mlbook-answer");
    if (!form) return;
    event.preventDefault();
    say(form, sentence(form, form.querySelector("input").value, form.querySelector("input + span")?.textContent));
  });
  addEventListener("input", ({ target }) => {
    const form = target.closest("form.mlbook-answer");
    if (form) say(form, null);
  });
  addEventListener("DOMContentLoaded", () => {
    for (const field of document.querySelectorAll(".mlbook-answer-field")) field.hidden = false;
  });
})();
