"""A stored result is old once the code that made it has changed, and only then."""

import json
from functools import partial

import pytest
from toy_experiment import Toy

from book.reproduction import EXPERIMENTS, age, runs

FILES = {
    "mlbook/__init__.py": "",
    "mlbook/used.py": "SCALE = 2  # of the loss\n",
    "mlbook/other.py": "SCALE = 2\n",
    "book/__init__.py": "",
    "book/room.py": "from mlbook.used import SCALE\n\ndef run_unit(unit):\n    return SCALE\n",
}


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository in which a toy's units are run by book/room.py."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(age, "ROOT", tmp_path)
    monkeypatch.setattr(runs, "_STARTED", float("inf"))
    return tmp_path


@pytest.fixture
def toy(repository):
    place = {}
    code = "def run_unit(unit, shift=0):\n    return {'loss': 1.0 + shift}\n"
    exec(compile(code, str(repository / "book" / "room.py"), "exec"), place)
    return Toy(run_unit=place["run_unit"])


def changes(toy, folder):
    result = json.loads((folder / "toy-table1.json").read_text())
    return age.changes(toy.experiment, result)


def test_a_result_knows_the_code_it_came_from(repository, toy):
    result = toy.run(repository / "results")
    assert result["sources"].keys() == {"book/room.py", "mlbook/used.py"}
    assert changes(toy, repository / "results") == []
    toy.experiment = Toy(run_unit=partial(toy.experiment.run_unit, shift=1)).experiment
    assert toy.run(None)["sources"] == result["sources"]


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("mlbook/used.py", "SCALE = 3\n", ["mlbook/used.py has changed"]),
        ("mlbook/used.py", '"""Words."""\nSCALE = (\n    2\n)\n', []),
        ("mlbook/other.py", "SCALE = 3\n", []),
        ("mlbook/new.py", "SCALE = 3\n", []),
        (
            "book/room.py",
            FILES["book/room.py"].replace("mlbook.used", "mlbook.other"),
            [
                "mlbook/other.py is used now",
                "mlbook/used.py is no longer used",
            ],
        ),
        ("book/room.py", FILES["book/room.py"] + "# words\n", []),
    ],
)
def test_code_makes_a_result_old_and_words_do_not(repository, toy, file, text, said):
    toy.run(repository / "results")
    (repository / file).write_text(text)
    assert changes(toy, repository / "results") == said


def test_other_units_make_a_result_old(repository, toy):
    toy.run(repository / "results")
    units = toy.experiment.units("full")
    for wanted in (units[:-1], [*units, {"row": "c", "seed": 0}], [{**units[0], "sizes": (1, 3)}]):
        other = Toy(run_unit=toy.experiment.run_unit, units=lambda scale, some=wanted: some)
        assert changes(other, repository / "results") == ["its units are others now"]


def test_units_that_could_not_be_run_do_not(repository, toy, monkeypatch):
    def run_unit(unit):
        if unit["row"] == "b":
            raise ImportError("b needs a package")
        return {"loss": 1.0}

    monkeypatch.setattr(age, "ROOT", runs.ROOT)
    skipping = Toy(run_unit=run_unit)
    skipping.run(repository / "results")
    assert changes(skipping, repository / "results") == []


def test_a_result_from_before_says_so(toy):
    result = toy.run(None)
    del result["sources"]
    assert age.changes(toy.experiment, result) == ["made before results knew their code"]


def test_one_line_for_several_results():
    days = {"one": "2026-05-01T10:00:00+00:00", "two": "2026-04-02T10:00:00+00:00"}
    line = age.age_line({name: {"started": day} for name, day in days.items()})
    assert line == (
        "Made with an earlier version of this code (2026-04-02 to 2026-05-01); rerun: "
        "`python book/reproduction run one two`"
    )
    assert age.age_line({}) == ""


# Results of code that has changed since; each run takes minutes. The pages mark them.
OLD = {
    name
    for names in (
        "comparison-: bags classes count labels seen sequences sizes unseen",
        "komodakis2011-: asymmetric choices figure6a figure6b figure7 keel-textures scenes",
        "lajugie2014-: figure1 figure1-map figure2 neuroblastoma table1-speech table2 "
        "table3-superpixels",
        "law2016-: flowers table1 table2 table3 table4 table4-lajugie table5 wide",
        "law2017-: nuisance table1 table1-digits table1-faces table3 table4 table4-corel5k-500 "
        "table7 table7-digits",
    )
    for start, ends in [names.split(": ")]
    for name in [start + end for end in ends.split()]
}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_no_other_stored_result_is_older_than_its_code(name):
    """Run it again with `python book/reproduction run NAME`; then take it off the list above."""
    result = runs.read_result(runs.result_path(runs.default_folder(), name, "full"))
    if result is None:
        pytest.skip("it was never run: its data is not at hand")
    assert bool(age.changes(EXPERIMENTS[name], result)) == (name in OLD)
