// Slides: arrow keys, space, Page Up and Down, Home, End, a swipe, or a click at the edge of the
// window. The address names the slide. A figure that has the focus keeps its keys.
"use strict";
const slides = [...document.querySelectorAll(".kit-slide")];
const KEEPS = "input, select, textarea, button, .mlbook-live-group, [contenteditable]";
const FIGURE = "figure.mlbook-live, figure.mlbook-explore";
const STEPS = {
  ArrowRight: 1, ArrowDown: 1, PageDown: 1, " ": 1, ArrowLeft: -1, ArrowUp: -1, PageUp: -1,
  Home: -slides.length, End: slides.length,
};
let now = 0;

// What is higher than the window shrinks to fit, down to two thirds; a phone scrolls.
const fit = (slide) => {
  const content = slide.querySelector(".bd-article");
  content.style.zoom = "";
  if (innerWidth < 600) return;
  for (let zoom = 0.95; zoom > 0.66 && slide.scrollHeight > innerHeight + 1; zoom -= 0.05) {
    content.style.zoom = zoom;
  }
};

const show = (place) => {
  now = Math.max(0, Math.min(slides.length - 1, place));
  slides.forEach((slide, i) => slide.classList.toggle("kit-now", i === now));
  fit(slides[now]);
  scrollTo(0, 0);
  dispatchEvent(new Event("resize"));
};
const go = (steps) => {
  show(now + steps);
  history.replaceState(null, "", `#${now + 1}`);
};

addEventListener("keydown", (event) => {
  const step = STEPS[event.key];
  if (!step || event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.target.closest?.(KEEPS)) return;
  event.preventDefault();
  go(step);
});

let start = null;
addEventListener("touchstart", ({ touches, target }) => {
  start = touches.length === 1 && !target.closest(FIGURE) ? touches[0] : null;
}, { passive: true });
addEventListener("touchend", ({ changedTouches }) => {
  if (!start) return;
  const [x, y] = [changedTouches[0].clientX - start.clientX, changedTouches[0].clientY - start.clientY];
  if (Math.abs(x) > 50 && Math.abs(x) > 2 * Math.abs(y)) go(x < 0 ? 1 : -1);
}, { passive: true });
addEventListener("click", ({ clientX, target }) => {
  if (target.closest(`${FIGURE}, a, button, input`)) return;
  if (clientX > 0.9 * innerWidth) go(1);
  else if (clientX < 0.1 * innerWidth) go(-1);
});

addEventListener("load", () => fit(slides[now]));
let width = innerWidth;
addEventListener("resize", () => {
  if (width !== innerWidth) fit(slides[now]);
  width = innerWidth;
});
addEventListener("hashchange", () => show(Number(location.hash.slice(1)) - 1));
show((Number(location.hash.slice(1)) || 1) - 1);
