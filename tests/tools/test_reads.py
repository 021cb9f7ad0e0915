"""The watch sees what a program and its children read, and nothing else."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import reads

TOOLS = Path(reads.__file__).resolve().parent


@pytest.fixture
def project(tmp_path):
    files = {
        "data/a.txt": "1",
        "data/b.txt": "2",
        "data/.hidden": "",
        "_build/made.txt": "",
        "alone.py": "",
        "room/__init__.py": "from room import wall\nfrom room.door import open_it\n",
        "room/door.py": "from room import handle\nopen_it = handle.turn\n",
        "room/handle.py": "turn = 1\n",
        "room/wall.py": "",
        "room/lamp.py": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def watched(code: str, project: Path, tmp_path_factory) -> list[tuple[str, str, str]]:
    """Run a program in the project; return what the watch wrote down, with short paths."""
    log = tmp_path_factory.mktemp("log") / "log"
    environment = {
        **os.environ,
        "PYTHONPATH": f"{TOOLS / 'kernel'}{os.pathsep}{project}",
        reads.LOG: str(log),
        reads.WATCHED: str(project),
    }
    subprocess.run([sys.executable, "-c", code], cwd=project, env=environment, check=True)
    lines = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    return [(kind, str(Path(path).relative_to(project)), state) for kind, path, state in lines]


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    "code, seen",
    [
        ("open('data/a.txt').read()", [("content", "data/a.txt", sha("1"))]),
        ("import os; os.open('data/a.txt', os.O_RDONLY)", [("content", "data/a.txt", sha("1"))]),
        ("import gzip; gzip.open('data/b.txt')", [("content", "data/b.txt", sha("2"))]),
        (
            "try: open('data/c.txt')\nexcept FileNotFoundError: pass",
            [("content", "data/c.txt", "absent")],
        ),
        (
            "from pathlib import Path\nPath('data/c.txt').exists()\nPath('data/a.txt').is_file()",
            [("presence", "data/c.txt", "absent"), ("presence", "data/a.txt", "there")],
        ),
        ("import os; os.path.exists('data/c.txt')", [("presence", "data/c.txt", "absent")]),
        ("import os; os.listdir('data')", [("names", "data", sha("a.txt\0b.txt"))]),
        ("import glob; glob.glob('data/*.txt')", [("names", "data", sha("a.txt\0b.txt"))]),
        ("open('data/new.txt', 'w'); open('data/a.txt', 'ab')", []),
        ("import os; os.path.exists('some\\ntext'); os.path.exists('text' * 99)", []),
        ("import os, importlib.metadata as m; os.chdir('data'); m.version('pip')", []),
        ("import os, importlib_metadata as m; os.chdir('data'); m.version('pip')", []),
        ("open('_build/made.txt'); open('data/.hidden'); open('/etc/hosts')", []),
        (
            "open('data/a.txt'); open('data/a.txt', 'w').write('9'); open('data/a.txt')",
            [("content", "data/a.txt", sha("1")), ("content", "data/a.txt", sha("9"))],
        ),
        (
            "import subprocess, sys\n"
            "subprocess.run([sys.executable, '-c', 'open(\"data/a.txt\")'], check=True)",
            [("content", "data/a.txt", sha("1"))],
        ),
    ],
)
def test_reads_are_written_down(code, seen, project, tmp_path_factory):
    assert watched(code, project, tmp_path_factory) == seen


@pytest.mark.parametrize("compiled_before", [False, True])
def test_an_imported_module_is_read_unless_a_package_passes_it_on(
    compiled_before, project, tmp_path_factory
):
    """What `room` imports for others is theirs to need; what a program asks for is read."""
    code = "from room import open_it, lamp\nimport importlib\nimportlib.import_module('alone')"
    if compiled_before:
        subprocess.run([sys.executable, "-c", code], cwd=project, check=True)
    seen = {(kind, path) for kind, path, _ in watched(code, project, tmp_path_factory)}
    expected = ("alone.py", "room/__init__.py", "room/lamp.py")
    assert seen == {("content", path) for path in expected}


def test_all_of_a_package_is_read_if_its_name_is_made_up(project, tmp_path_factory):
    code = "from importlib import import_module\nimport_module('ro' + 'om')"
    seen = {(kind, path) for kind, path, _ in watched(code, project, tmp_path_factory)}
    expected = ("__init__", "door", "handle", "wall")
    assert seen == {("content", f"room/{name}.py") for name in expected}


def test_a_watched_program_can_still_remove_folders(project, tmp_path_factory):
    """The watch stands in for os.stat, which shutil knows by identity."""
    code = "import shutil; assert shutil.rmtree.avoids_symlink_attacks; shutil.rmtree('data')"
    watched(code, project, tmp_path_factory)
    assert not (project / "data").exists()


def test_states_change_with_the_thing(project):
    data = project / "data"
    assert reads.content(str(data)) == reads.names(str(data / "a.txt")) == reads.ABSENT
    before = reads.names(str(data))
    (data / "a.txt").write_text("other content")
    (data / "__pycache__").mkdir()
    assert reads.names(str(data)) == before
    (data / "c.txt").touch()
    assert reads.names(str(data)) != before
    assert reads.presence(str(data / "c.txt")) == "there"
    assert reads.presence(str(data / "d.txt")) == reads.ABSENT
