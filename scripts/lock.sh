#!/usr/bin/env bash
# Writes requirements.lock: every package the project, its extras and its tests use, for every
# platform and every Python from 3.11 on, each file with its hash. Pins that still fit stay as they
# are; with --upgrade they move, but only to releases that have been out for two weeks.
set -euo pipefail
cd "$(dirname "$0")/.."

tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
"${PYTHON:-python3}" -m venv --without-pip "$tools"
"${PYTHON:-python3}" -m pip --python "$tools/bin/python" install --quiet \
    --disable-pip-version-check --root-user-action=ignore 'uv==0.13.7'

"$tools/bin/uv" pip compile pyproject.toml --all-extras --group dev --output-file requirements.lock \
    --universal --python-version 3.11 --generate-hashes \
    --exclude-newer "$(date --utc --date='14 days ago' +%F)" \
    --no-header --no-annotate --no-config --quiet "$@"
