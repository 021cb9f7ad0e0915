/* The last script of a page with live figures: it wakes them. */
"use strict";
for (const figure of document.querySelectorAll("figure.mlbook-live")) {
  figure.mlbookLive = mlbookLive.wake(figure);
}
