"""An experiment that runs at once and counts what it runs, for tests of what runs experiments."""

from dataclasses import replace
from pathlib import Path

import pytest

from book import reproduction
from book.reproduction import Column, Experiment, command_line, runs
from mlbook.partitions import partition_loss

LOSS = Column("loss", "Loss")
TIME = Column("time", "Time", ratio=True)


class Toy:
    """An experiment of two methods and three seeds that counts calls and can break off."""

    def __init__(self, breaks_at: int | None = None, **changes):
        self.calls: list[dict] = []
        self.breaks_at = breaks_at
        self.experiment = replace(
            Experiment(
                id="toy-table1",
                paper="Nobody 2000",
                title="nothing",
                columns=(LOSS, TIME),
                paper_numbers={"a": {"loss": "0.2", "time": 1.0}, "b": {"loss": "3.0"}},
                units=self.units,
                run_unit=self.run_unit,
                note="All made up.",
            ),
            **changes,
        )

    def units(self, scale):
        return [{"row": r, "seed": s, "sizes": (1, 2)} for s in range(3) for r in "ab"]

    def run_unit(self, unit):
        if len(self.calls) == self.breaks_at:
            raise KeyboardInterrupt
        self.calls.append(unit)
        far = 3 * partition_loss([0, 0], [0, 1])
        return {"loss": 0.1 + 0.1 * unit["seed"] if unit["row"] == "a" else far, "time": 1.0}

    def run(self, folder, scale="full", progress=False):
        return runs.run_experiment(self.experiment, scale, folder, progress)


def interrupted(folder: Path, after: int = 4) -> Path:
    """Leave the partial file of a run that was cut off."""
    with pytest.raises(KeyboardInterrupt):
        Toy(breaks_at=after).run(folder)
    return folder / "toy-table1.partial"


def registered(monkeypatch: pytest.MonkeyPatch) -> Toy:
    """Return a toy that is all that the public functions and the command line know."""
    made = Toy()
    monkeypatch.setattr(reproduction, "EXPERIMENTS", {made.experiment.id: made.experiment})
    monkeypatch.setattr(command_line, "EXPERIMENTS", reproduction.EXPERIMENTS)
    return made
