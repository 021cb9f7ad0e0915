"""How long the live figures compute for a frame, in Node: `python tests/book/live_frames.py`.

A report, not a test: the bar is a median of 8 ms on a machine that does nothing else.
"""

from __future__ import annotations

import json
import subprocess

from live_harness import first_state

from book.live.figure import HERE, figures

PROGRAM = """
const fs = require("fs"), vm = require("vm");
for (const file of FILES) vm.runInThisContext(fs.readFileSync(file, "utf8"), { filename: file });
const figure = mlbookLive.figures[NAME], state = JSON.parse(fs.readFileSync(0, "utf8"));
const times = [];
for (let i = 0; i < 300; i++) {
  const start = performance.now();
  figure.view(state, figure.compute(state));
  times.push(performance.now() - start);
}
times.sort((a, b) => a - b);
console.log(NAME.padEnd(20), times[150].toFixed(2).padStart(8), times[285].toFixed(2).padStart(8));
"""

if __name__ == "__main__":
    print(f"{'figure':20} {'median':>8} {'95 %':>8}  milliseconds")
    for name in figures():
        files = json.dumps([str(HERE / f"{each}.js") for each in ("core", name)])
        program = PROGRAM.replace("FILES", files).replace("NAME", json.dumps(name))
        state = json.dumps(first_state(name))
        subprocess.run(["node", "-e", program], input=state, text=True, check=True)
