"""A book of one page that all rooms of the Sphinx extension have a part in."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from zlib import crc32

import setup_cell

from book.claims import Claim

ROOT = Path(__file__).resolve().parents[1]
ADDRESS = "https://github.com/who/what"

SETTINGS = """
extensions = ["myst_nb", "sphinx_book_theme", "sphinxcontrib.bibtex", "repository_pages",
              "source_pages", "quiz_pages", "live_pages", "embed_pages", "claim_pages",
              "math_pages", "permalinks", "found_pages", "search_pages", "page_nodes",
              "page_policy", "sphinx_proof", "sphinx_exercise"]
html_theme = "sphinx_book_theme"
html_baseurl = "https://who.example/what"
project = "A book"
author = "A. Who"
copyright = "2026"
html_math_renderer = "mathml"
myst_update_mathjax = False
templates_path = ["book/_templates"]
exclude_patterns = ["book/figures/_*"]
root_doc = "contents"
bibtex_bibfiles = ["references.bib"]
nb_execution_mode = "off"
nb_code_prompt_show = "Show code"
myst_enable_extensions = ["dollarmath", "substitution"]
"""

TEXT = """# A page

If $x$, and ($y$) or $z$ here, then {cite:t}`a2000`. {{ opened_alone }}

|   | b |
| - | - |
| c | d |

```{prf:theorem} Of Bayes
:label: bayes
True.
```

```{prf:proof}
Clear.
```

```{prf:proof}
Clear again.
```

```{prf:proof}
:class: dropdown
Long.
```

```{exercise} Hard
:label: hard
Prove it.
```

```{bibliography}
```

```{claims} book/page
```

```{claims}
```

```{live} metric
```

```{answer} hard
```
"""

CLAIM = 'claim("1 < 2, always.", 1 < 2, data="two numbers", number="2")'

DRAWING = '''"""Figures of the page."""

from functools import cache


@cache
def line(slope=1):
    """Draw a line."""
    return [0, slope]


def moving(slope):
    return line(slope)
'''

QUIZ = """
questions: [{question: '1 + 1?', answers: [{right: '2', why: Count.}, {wrong: '11', why: No.}]}]
answers:
  hard:
    question: What is $2+2$?
    value: 4
    hints: [{value: 22, say: You glued them.}]
"""


def cell(source, output=None, tags=(), name=None):
    """A code cell as it is stored, with its output."""
    outputs = []
    if output is not None:
        outputs = [{"output_type": "display_data", "data": output, "metadata": {}}]
    return {
        "cell_type": "code",
        "id": name or f"cell-{crc32(source.encode())}",
        "metadata": {"tags": list(tags)},
        "source": source,
        "outputs": outputs,
        "execution_count": None,
    }


def notebook(*cells):
    metadata = {"kernelspec": {"name": "python3", "language": "python"}}
    return json.dumps(
        {"cells": list(cells), "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    )


def build(root: Path, text: str = TEXT) -> Path:
    """Write the sources into a folder and build them; return the folder of the pages."""
    (root / "book" / "figures").mkdir(parents=True)
    (root / "book" / "quizzes").mkdir()
    shutil.copytree(ROOT / "book" / "_templates", root / "book" / "_templates")
    (root / "conf.py").write_text(SETTINGS)
    (root / "references.bib").write_text("@misc{a2000, title={T}, author={A, B}, year={2000}}")
    (root / "contents.md").write_text("# Contents\n\n```{toctree}\nbook/page\n```\n")
    (root / "book" / "figures" / "drawing.py").write_text(DRAWING)
    (root / "book" / "quizzes" / "page.yml").write_text(QUIZ)
    picture = {"image/svg+xml": '<svg xmlns="http://www.w3.org/2000/svg"></svg>'}
    explorer = {"text/html": '<figure class="mlbook-explore">moves</figure>'}
    place = {"text/html": '<div data-quiz="page"></div>'}
    words = {"text/plain": "no picture"}
    claim = Claim("1 < 2, always.", data="two numbers", number="2")._repr_mimebundle_()
    more = Claim("0 < 2, always.", data="two numbers", number="2")._repr_mimebundle_()
    page = notebook(
        {"cell_type": "markdown", "id": "text", "metadata": {}, "source": text},
        cell(setup_cell.SOURCE, tags=[setup_cell.TAG], name=setup_cell.ID),
        cell("from book.figures import drawing as demo\n\ndemo.line()", picture, ["hide-input"]),
        cell("explore(demo.moving, slope=[1, 2])", explorer),
        cell("print(demo.line())", words),
        cell('quiz("page")', place),
        cell(CLAIM, claim, ["claim"]),
        cell(CLAIM.replace("1", "0"), more, ["claim"]),
    )
    (root / "book" / "page.ipynb").write_text(page)
    path = os.pathsep.join([str(ROOT / "tools"), str(ROOT)])
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-b", "html", "."]
    run = subprocess.run(
        [*command, "built"],
        cwd=root,
        env=os.environ | {"PYTHONPATH": path, "GITHUB_REPOSITORY": "who/what"},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    return root / "built"
