# 58. Asks for another user's rights with the programs that are made for it.
# Those that are not installed cannot help either.
# limits: wall_ms=15000
# ends: exit 0
# says: held
# may say on gvisor: unshare --map-root-user id -u: 0
got_through=0
me=$(id -u)

try() {
    command -v "$1" >/dev/null || return
    answer=$(timeout 3 "$@" </dev/null 2>/dev/null)
    if [[ $? = 0 && $answer != "$me" ]]; then
        echo "$*: $answer"
        got_through=1
    fi
}

try sudo -n id -u
try su -c 'id -u'
try su root -c 'id -u'
try su --shell /bin/sh --command 'id -u' nobody
try runuser -u nobody -- id -u
try setpriv --reuid 0 id -u
try setpriv --reuid 65534 --clear-groups id -u
try pkexec id -u
try doas id -u
try newgrp root
try sg root 'id -g'
try chroot / id -u
try unshare --map-root-user id -u
try nsenter --target 1 --mount id -u
try systemd-run --pipe id -u
try capsh --user=root -- -c 'id -u'

[ $got_through = 1 ] || echo held
exit $got_through
