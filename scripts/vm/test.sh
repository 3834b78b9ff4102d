#!/usr/bin/env bash
# Boots a small virtual machine with cgroup v2 and runs the engine tests in it, on every kind of
# host that guest/all-hosts.sh knows.
#
#   scripts/vm/test.sh                                    everything
#   HOSTS='root user' scripts/vm/test.sh                  some kinds of host
#   PYTEST='tests/engines -k memory' scripts/vm/test.sh   some tests
#
# Software emulation only: needs no rights, no /dev/kvm and no network once the image is built.
set -euo pipefail
cd "$(dirname "$0")/../.."
MINUTES=${MINUTES:-40} # then the machine is taken down, whatever it is doing

command -v qemu-system-x86_64 >/dev/null || {
    echo "error: qemu-system-x86_64 is missing" >&2
    echo "hint: apt-get install --no-install-recommends qemu-system-x86" >&2
    exit 2
}
image=$(scripts/vm/build-image.sh)

run=$(mktemp -d "${TMPDIR:-/tmp}/coderunner-vm-XXXXXX")
trap 'rm -rf "$run"' EXIT
: >"$run/vm-request"
[ -z "${HOSTS:-}" ] || printf 'HOSTS=%q\n' "$HOSTS" >>"$run/vm-request"
[ -z "${PYTEST:-}" ] || printf 'PYTEST=%q\n' "$PYTEST" >>"$run/vm-request"
tar --create --file="$run/checkout.tar" --mode=a+rX --exclude-vcs --exclude=./.venv \
    --exclude='.*_cache' --exclude=__pycache__ --exclude=.hypothesis . -C "$run" vm-request
touch "$run/results"

# Ports: the console, what the tests print, one line for each host.
status=0
timeout --kill-after=10 "${MINUTES}m" qemu-system-x86_64 \
    -accel tcg,thread=multi -cpu max -smp 2 -m 3072 \
    -nodefaults -no-user-config -display none -no-reboot \
    -kernel "$image/vmlinuz" -initrd "$image/initrd" \
    -append 'root=/dev/vda rw console=ttyS0 quiet panic=-1 systemd.unit=coderunner-vm.service' \
    -drive "file=$image/root.ext2,format=raw,if=virtio,snapshot=on" \
    -drive "file=$run/checkout.tar,format=raw,if=virtio,readonly=on" \
    -serial "file:$run/console" -serial stdio -serial "file:$run/results" </dev/null || status=$?

if ! grep -q '^done' "$run/results"; then
    echo "error: the virtual machine ended (qemu: $status) before the tests did; its last words:" >&2
    tail -n 30 "$run/console" >&2
    exit 1
fi
echo
printf '%-20s %-7s %6s  %s\n' host result seconds tests
while read -r host code seconds summary; do
    [ "$host" != done ] || break
    [ "$code" = 0 ] && verdict=ok || { verdict=FAILED; status=1; }
    printf '%-20s %-7s %6s  %s\n' "$host" "$verdict" "$seconds" "${summary//=/}"
done < <(tr -d '\r' <"$run/results")
exit "$status"
