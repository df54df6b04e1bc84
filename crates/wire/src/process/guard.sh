# Ends whatever a process of ours left behind, once that process is gone. Started by guard.rs.
#
# stdin: our token on the first line, then `+GROUP` when a server starts and `-GROUP` when it ended.
# `done` means that all is well and we are about to end. The end of stdin without it means that we
# died, in whatever way. The token is in no argument and no variable
# of this shell's environment, so that a search for it cannot find the searcher.
# Plain POSIX: this runs under dash, bash, busybox and the shells of macOS and the BSDs.

# The first words that `ps` shows of this process; comments are left out.
: mcp-loadtest guard

trap '' HUP INT QUIT TERM PIPE TSTP
cd /

read -r token || exit 0
# An empty token would be found in every process of the machine.
case $token in
*[!0-9a-f-]*) exit 1 ;;
??????????????????*) ;;
*) exit 1 ;;
esac

groups=' '
while read -r line; do
    # Nobody is sent home while there is something to guard.
    case $line in done) case $groups in *[0-9]*) ;; *) exit 0 ;; esac ;; esac
    group=${line#?}
    case $group in '' | *[!0-9]*) continue ;; esac
    case $line in
    +*) groups="$groups$group " ;;
    -*) case $groups in *" $group "*) groups="${groups%% "$group" *} ${groups#* "$group" }" ;; esac ;;
    esac
done

# The processes whose environment carries the token, one a line.
marked() {
    if [ ! -r /proc/self/environ ]; then
        # macOS shows environments with -E, the BSDs with -e.
        case $(uname) in Darwin) show=-AEww ;; *) show=-aexww ;; esac
        { echo "$token." && ps $show -o pid= -o command=; } 2>/dev/null |
            awk 'NR == 1 { token = $0; next } index($0, token) { print $1 }'
    elif printf 'a\0b' | grep -qaF b; then
        grep -lasF "$token." /proc/[0-9]*/environ | tr -cd '0-9\n'
    else
        # The grep of busybox does not see beyond a NUL.
        for file in /proc/[0-9]*/environ; do
            case $(tr -d '\0' <"$file") in *"$token."*) echo "$file" ;; esac
        done 2>/dev/null | tr -cd '0-9\n'
    fi
}

# All processes: `parent PID NUMBER` and `group PID NUMBER`, one a line.
processes() {
    if [ -r /proc/self/status ]; then
        grep -s -e '^PPid:' -e '^NSpgid:' /proc/[0-9]*/status | sed -n \
            -e 's|^/proc/\([0-9]*\)/status:PPid:[^0-9]*|parent \1 |p' \
            -e 's|^/proc/\([0-9]*\)/status:NSpgid:[^0-9]*|group \1 |p'
    else
        ps -A -o pid= -o ppid= -o pgid= | awk '{ print "parent", $1, $2; print "group", $1, $3 }'
    fi
}

# What to kill: the marked ones, the leaders of the groups we were told, whoever descends from them,
# and first of all, written `-GROUP`, every group that has no other members. A group is killed in one
# stroke, so that it cannot fork ahead of us.
targets() {
    { marked; printf '%s\n' $groups; processes; } | awk '
        NF == 1 { ours[$1] = 1 }
        $1 == "parent" { parent[$2] = $3 }
        $1 == "group" { group[$2] = $3 }
        END {
            do {
                grown = 0
                for (pid in parent)
                    if (!(pid in ours) && (parent[pid] in ours)) grown = ours[pid] = 1
            } while (grown)
            for (pid in group) if (!(pid in ours)) shared[group[pid]] = 1
            for (pid in group)
                if (pid in ours && !(group[pid] in shared) && group[pid] + 0 > 1) print "-" group[pid]
            for (pid in ours) if (pid in parent && pid + 0 > 1) print pid
        }'
}

# Twice nothing, as a process may be missed while it forks; and not for ever, as one that hangs in
# the kernel does not die.
pass=0 quiet=0
while [ $quiet -lt 2 ] && [ $pass -lt 120 ]; do
    found=$(targets)
    # Where `awk` is missing, the marked ones are at least known without their families.
    [ -n "$found" ] || found=$(marked)
    # Told groups are killed once: later, the numbers may belong to others.
    for group in $groups; do kill -s KILL -- "-$group"; done 2>/dev/null
    groups=' '
    for target in $found; do kill -s KILL -- "$target"; done 2>/dev/null
    if [ -n "$found" ]; then quiet=0; else quiet=$((quiet + 1)); fi
    pass=$((pass + 1))
    [ $pass -lt 60 ] || sleep 1
done
