"""Live figures: a reader drags a point and the result follows, on a page and in a notebook.

A figure NAME has three parts, found by their names:

- ``NAME.js`` moves it in the browser; what it must provide is written at the top of ``core.js``.
- ``NAME.py`` has the Python twins ``compute(state)`` and ``view(state, result)`` of the same
  algorithm; ``body(state, result, draw)``, which writes the complete first picture as HTML and
  SVG with the helper `book.live.markup.Draw`; and the function ``NAME(...)``, which makes a first
  state, of the book's data or the reader's, and returns `book.live.figure.show("NAME", state)`.
- ``tests/book/test_live_NAME.py`` compares the twins on random states, and Python with the library.

Python draws and JavaScript only moves: what Python draws is the picture without JavaScript, in
print, and before the first touch. A new figure gets its line below.

Examples
--------
>>> metric()
<live figure metric>
"""

from book.live.bags import bags
from book.live.cut_made import cut_made
from book.live.glasses import glasses
from book.live.graph import graph
from book.live.line_points import line_points
from book.live.metric import metric
from book.live.price import price
from book.live.projection import projection
from book.live.relabel import relabel
from book.live.six_points import six_points
from book.live.slaves import slaves

__all__ = [
    "bags",
    "cut_made",
    "glasses",
    "graph",
    "line_points",
    "metric",
    "price",
    "projection",
    "relabel",
    "six_points",
    "slaves",
]
