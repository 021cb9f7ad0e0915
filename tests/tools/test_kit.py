"""The lecturer's kit as a whole."""

import json
from pathlib import Path

import kit
import nbformat

ROOT = Path(__file__).resolve().parents[2]


def test_every_chapter_with_exercises_gets_three_notebooks(tmp_path):
    names = kit.chapters(ROOT)
    assert {"kmeans", "mlca", "latent_crf", "mimlca", "change_points", "segmentation"} <= {*names}
    kit.make_notebooks(ROOT, tmp_path)
    for kind in ("students", "sheets", "solutions"):
        assert sorted(path.stem for path in (tmp_path / kind).iterdir()) == names
        for name in names:
            text = (tmp_path / kind / f"{name}.ipynb").read_text(encoding="utf-8")
            nbformat.validate(json.loads(text))
            assert ("{solution-start}" in text) == (kind == "solutions")


def test_the_address_of_the_site_is_one_setting(tmp_path):
    settings = tmp_path / "_config.yml"
    settings.write_text('html: {baseurl: ""}')
    assert kit.site_address(tmp_path) == ""
    settings.write_text('html: {baseurl: "https://who.example/what"}')
    assert kit.site_address(tmp_path) == "https://who.example/what/"
