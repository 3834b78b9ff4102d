#!/usr/bin/env bash
# Builds a virtual environment from requirements.lock, with this project installed in it.
#
#   scripts/setup.sh DIR       PYTHON=... chooses the interpreter
#
# Works where Python came without ensurepip (Debian without python3-venv): the environment is made
# without pip, and a pip from outside installs into it.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=$1

fail() {
    echo "error: $1" >&2
    echo "hint: $2" >&2
    exit 1
}

# The first interpreter for which `python -c "$1"` succeeds.
first_python() {
    local candidate
    for candidate in ${PYTHON:-python3 python3.13 python3.12 python3.11 /usr/bin/python3}; do
        if "$candidate" -c "$1" >/dev/null 2>&1; then
            echo "$candidate"
            return
        fi
    done
    return 1
}

new_enough='import sys, venv; assert sys.version_info >= (3, 11)'
with_pip='import pip; assert tuple(map(int, pip.__version__.split(".")[:2])) >= (22, 3)'

python=$(first_python "$new_enough") || fail \
    "${PYTHON:-python3} is missing or older than 3.11" \
    "install Python 3.11 or newer (Debian, Ubuntu: apt-get install python3 python3-pip), or name one: make PYTHON=/path/to/python3"
pip=$(first_python "$with_pip" || PYTHON='' first_python "$with_pip") || fail \
    "no Python here has pip 22.3 or newer" \
    "install pip (Debian, Ubuntu: apt-get install python3-pip; others: python3 -m ensurepip --user)"

install() {
    "$pip" -m pip --python "$venv/bin/python" install --quiet --quiet \
        --disable-pip-version-check --root-user-action=ignore "$@"
}

echo "setting up $venv with $("$python" --version)" >&2
"$python" -m venv --clear --without-pip "$venv"
install --require-hashes --requirement requirements.lock
install --no-index --no-deps --no-build-isolation --editable .
