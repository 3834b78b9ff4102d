#!/usr/bin/env bash
# Builds what the virtual machine boots from, and prints the directory that holds it: a Debian
# bookworm root file system (root.ext2), its kernel (vmlinuz) and its initrd.
#
# It is built once for each version of what goes in: this script, guest/vm-tests.service and
# requirements.lock. The checkout is not part of it; it comes in fresh with every run.
#
# Packages come from where apt on this machine gets its Debian packages, wheels from where pip does.
set -euo pipefail
umask 022
cd "$(dirname "$0")/../.."

SUITE=bookworm
PYTHON_VERSION=3.11 # that suite's
PACKAGES=(
    linux-image-cloud-amd64 zstd # zstd: packs the initrd
    systemd-sysv udev libpam-systemd dbus dbus-user-session # a user's own manager needs both buses
    python3 bash perl gcc libc6-dev procps
    docker.io apparmor # whose profile for containers Docker insists on where the kernel has it
    runc # a container, as Docker makes them
)
# The lock also holds what only `make check` and packaging need.
UNUSED_WHEELS=(ruff mypy mypyc hatchling editables bin)

fail() {
    echo "error: $1" >&2
    echo "hint: $2" >&2
    exit 2
}

inputs=(scripts/vm/build-image.sh scripts/vm/guest/vm-tests.service requirements.lock)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/coderunner-vm
image=$cache/$(cat "${inputs[@]}" | sha256sum | cut -c1-16)
mkdir -p "$cache"
exec 9>"$cache/lock"
flock --timeout 1800 9 || fail "another build has held $cache/lock for half an hour" "end it"
if [ -e "$image/root.ext2" ]; then
    echo "$image"
    exit
fi

missing=()
for tool in mmdebstrap genext2fs; do
    command -v "$tool" >/dev/null || missing+=("$tool")
done
[ "${#missing[@]}" = 0 ] || fail "cannot build the image without ${missing[*]}" \
    "apt-get install --no-install-recommends ${missing[*]}"

stage=$(mktemp -d "$cache/build-XXXXXX")
trap 'rm -rf "$stage"' EXIT

echo "building the virtual machine's image (some minutes, once): $image" >&2
mkdir "$stage/image" "$stage/wheels"
timeout 600 python3 -m pip install --quiet --quiet --disable-pip-version-check --root-user-action=ignore \
    --target "$stage/wheels" --no-compile --only-binary=:all: --python-version "$PYTHON_VERSION" \
    --platform manylinux_2_28_x86_64 --platform manylinux2014_x86_64 \
    --require-hashes --requirement requirements.lock
(cd "$stage/wheels" && rm -rf "${UNUSED_WHEELS[@]}")
# Seen by every python3 of the guest, without an environment variable.
printf '/opt/wheels\n/checkout/src\n' >"$stage/coderunner.pth"

# shellcheck disable=SC2016  # apt fills these in
apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' \
    'Created-By: Packages' 'Origin: Debian' | grep " $SUITE[ -]" >"$stage/sources" ||
    fail "apt on this machine knows no Debian $SUITE packages" \
        "run this on Debian $SUITE, after apt-get update"

# chroot: root's tools are in sbin, which an ordinary user's PATH may lack.
PATH=$PATH:/usr/sbin:/sbin timeout 1500 mmdebstrap --quiet --variant=minbase \
    --include="$(IFS=,; echo "${PACKAGES[*]}")" --aptopt='APT::Install-Recommends "false"' \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' \
    --customize-hook="copy-in $stage/wheels /opt" \
    --customize-hook="copy-in $stage/coderunner.pth /usr/local/lib/python$PYTHON_VERSION/dist-packages" \
    --customize-hook='copy-in scripts/vm/guest/vm-tests.service /etc/systemd/system' \
    --customize-hook='chroot "$1" useradd --create-home --shell /bin/bash tester' \
    --customize-hook='mkdir "$1/checkout"' \
    --customize-hook='echo vm >"$1/etc/hostname"' \
    --customize-hook='chroot "$1" python3 -m compileall -q -j 0 /opt/wheels' \
    --customize-hook="copy-out /boot $stage" \
    "$SUITE" "$stage/image/root.ext2" - <"$stage/sources" >&2

cp "$stage"/boot/vmlinuz-* "$stage/image/vmlinuz"
cp "$stage"/boot/initrd.img-* "$stage/image/initrd"
find "$cache" -mindepth 1 -maxdepth 1 -type d ! -path "$stage" -exec rm -rf {} +
mv "$stage/image" "$image"
echo "$image"
