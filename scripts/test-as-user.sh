#!/usr/bin/env bash
# Runs the tests as an ordinary user, started by root: a real one, with a uid of its own that owns
# nothing, no capabilities and no groups. Arguments go to pytest.
#
# That user cannot read a checkout or an interpreter under /root. So it gets a copy of this checkout
# and an environment built on a Python it can run, both in a directory that goes away afterwards.
set -euo pipefail
umask 022
cd "$(dirname "$0")/.."

[ "$(id -u)" = 0 ] || { echo "hint: you are an ordinary user already: make test" >&2; exit 2; }

stage=$(mktemp -d /var/tmp/coderunner-XXXXXX) # short: sockets have paths in there
trap 'rm -rf "$stage"' EXIT
chmod 755 "$stage"

# A uid that nobody has.
uid=61000
while getent passwd "$uid" >/dev/null; do uid=$((uid + 1)); done

as_user() {
    (cd "$stage" && exec setpriv --reuid "$uid" --regid "$uid" --clear-groups --inh-caps=-all \
        env --ignore-environment PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        HOME="$stage/home" TMPDIR="$stage/tmp" XDG_CACHE_HOME="$stage/home/.cache" \
        HYPOTHESIS_STORAGE_DIRECTORY="$stage/tmp/hypothesis" PYTHONDONTWRITEBYTECODE=1 \
        LANG=C.UTF-8 CI="${CI:-}" "$@")
}

# In CI nothing is left out; elsewhere it is said.
leave_out() {
    echo "left out: the tests as an ordinary user, because $1" >&2
    echo "hint: $2" >&2
    [ "${CI:-}" = true ] && exit 1
    exit 0
}

python=''
for candidate in python3 python3.13 python3.12 python3.11; do
    if as_user "$candidate" -c 'import sys, venv; assert sys.version_info >= (3, 11)' 2>/dev/null; then
        python=$candidate
        break
    fi
done
[ -n "$python" ] || leave_out "there is no Python >= 3.11 outside $HOME that other users can run" \
    "apt-get install python3"
python=$(as_user sh -c 'command -v "$0"' "$python")

mkdir "$stage/checkout"
tar --create --exclude-vcs --exclude=./.venv --exclude='.[a-z]*_cache' --exclude=__pycache__ \
    --exclude=.hypothesis --mode=a+rX . | tar --extract --no-same-owner -C "$stage/checkout"
install -d -o "$uid" -g "$uid" -m 700 "$stage/home" "$stage/tmp"
PYTHON=$python "$stage/checkout/scripts/setup.sh" "$stage/venv"

cd "$stage/checkout"
packages=$(as_user "$stage/venv/bin/python" "$stage/checkout/scripts/toolchains.py" --packages)
# shellcheck disable=SC2086  # one word per package
"$stage/venv/bin/python" scripts/toolchains.py --install $packages

echo "the tests again, as uid $uid" >&2
as_user env --chdir="$stage/checkout" "$stage/venv/bin/python" -m pytest -p no:cacheprovider "$@"
