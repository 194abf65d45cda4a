# What the showcase's claims are made of: lines with figures, a daemon of their own, repositories, waiting. Sourced by main-job.

passed=0 failed=0 skipped=0
ok() { passed=$((passed + 1)); printf 'ok       %-78s %s\n' "$1" "${2-}"; }
failed() { failed=$((failed + 1)); printf 'FAILED   %-78s %s\n' "$1" "${2-}"; }
skipped() { skipped=$((skipped + 1)); printf 'skipped  %-78s %s\n' "$1" "${2-}"; }
note() { printf '         %s\n' "$*"; }
# `check CLAIM FIGURE COMMAND…`: ok when the command succeeds.
check() {
    local claim=$1 figure=$2
    shift 2
    if "$@" >/dev/null 2>&1; then ok "$claim" "$figure"; else failed "$claim" "$figure"; fi
}
equal() { [ "$1" = "$2" ]; }
contains() { grep -qF -- "$2" <<<"$1"; }
absent() { ! grep -qF -- "$2" <<<"$1"; }

now() { date +%s.%N; }
since() { awk -v a="$1" -v b="$(now)" 'BEGIN { printf "%.1f s", b - a }'; }

# `json EXPRESSION`: a Python expression over `d`, what standard input holds. Debian's own Python where it is: it starts sooner.
python=/usr/bin/python3
[ -x "$python" ] || python=python3
json() { "$python" -c "import json, sys, datetime
d = json.load(sys.stdin)
print($1)"; }

free_port() { "$python" -c 'import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
listens() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# `within SECONDS COMMAND…`: tries it until it succeeds.
within() {
    local limit=$1 begin=$SECONDS
    shift
    until "$@" >/dev/null 2>&1; do
        [ $((SECONDS - begin)) -lt "$limit" ] || return 1
        sleep 0.3
    done
}

# ------------------------------------------------------------------------------------------------------ processes

# An ended process can stay in the table for a while, and its number can be another's by then: so look, never just kill -0.
lives() { # PID, a text of its command line
    [[ ${1-} =~ ^[0-9]+$ ]] && [ -r "/proc/$1/cmdline" ] || return 1
    [ "$(sed 's/.*) //; s/ .*//' "/proc/$1/stat" 2>/dev/null)" != Z ] || return 1
    tr '\0' ' ' 2>/dev/null <"/proc/$1/cmdline" | grep -qF -- "$2"
}
gone() { ! lives "$@"; }
end() { # PID, text of its command line
    lives "$1" "$2" || return 0
    kill -TERM "$1" 2>/dev/null || return 0
    within 15 gone "$1" "$2" || kill -KILL "$1" 2>/dev/null || true
}

daemon=
start_daemon() {
    "$martlet" serve --settings "$scratch/config/martlet.yml" >>"$scratch/daemon.log" 2>&1 &
    daemon=$!
    within 60 curl -fsS -m 2 -o /dev/null "$url/health"
}
stop_daemon() { # a signal
    [ -n "$daemon" ] || return 0
    kill "-$1" "$daemon" 2>/dev/null || true
    wait "$daemon" 2>/dev/null || true
    daemon=
}
# The processes that a process started, and those that these started.
descendants() { # PID
    local pid
    for pid in $(ps -o pid= --ppid "$1"); do
        printf '%s\n' "$pid"
        descendants "$pid"
    done
}
cleanup() {
    local file pid
    stop_daemon TERM
    # A build or a test that an interruption left. All are found before any is ended: an orphan is no longer found.
    for pid in $(descendants $$); do kill -TERM "$pid" 2>/dev/null || true; done
    if [ -d "$scratch/quickstart" ]; then XDG_STATE_HOME=$scratch/quickstart "$root/deploy/quickstart" --stop >/dev/null 2>&1 || true; fi
    # Jobs go on without the daemon, as they should; here they end with their supervisors, and then the launcher.
    for file in "$scratch"/state/integrations/*/*/*/*/lock; do
        [ -s "$file" ] || continue
        for pid in $(tr -c '0-9\n' ' ' <"$file"); do end "$pid" "--attempt $scratch"; done
    done
    pid=$(cut -d ' ' -f 2 "$scratch/state/launcher.socket.lock" 2>/dev/null || true)
    end "$pid" "--listen $scratch"
    end "$(cat "$scratch/ssh/sshd.pid" 2>/dev/null)" "$scratch/ssh"
    end "$(cat "$scratch/nginx/nginx.pid" 2>/dev/null)" "$scratch/nginx"
    if [ -n "${MARTLET_SHOWCASE_KEEP-}" ]; then note "kept: $scratch"; else rm -rf "$scratch"; fi
}

# The daemon that all claims but the quickstart's share. Made once.
prepare() { # further lines of its settings
    [ -z "$daemon" ] || return 0
    mkdir -p "$scratch"/{config/bots,config/triggers,config/secrets,repositories,clones}
    chmod 700 "$scratch/config/secrets"
    printf 'listen: 127.0.0.1:%s\nstate: %s/state\nsecrets: %s/config/secrets\nconcurrency: 2\n' \
        "$port" "$scratch" "$scratch" >"$scratch/config/martlet.yml"
    # Where the machine's git takes repositories from a directory instead of a server, jobs inside the sandbox must see both.
    local mirrors
    mirrors=$(git config --system --get-regexp '^url\./.*\.insteadof$' 2>/dev/null | sed -n 's,^url\.\(/[^ ]*[^ /]\)/*\.insteadof .*,\1,p' | sort -u | paste -sd, - || true)
    [ -z "$mirrors" ] || printf 'sandbox: { read-only: [%s, /etc/gitconfig] }\n' "$mirrors" >>"$scratch/config/martlet.yml"
    [ $# -eq 0 ] || printf '%s\n' "$@" >>"$scratch/config/martlet.yml"
    if ! start_daemon; then
        failed "the daemon starts" "$(tail -3 "$scratch/daemon.log")"
        exit 1
    fi
}
secret() { "$martlet" secret set --settings "$scratch/config/martlet.yml" "$1" >/dev/null; } # from standard input

# --------------------------------------------------------------------------------------------- repositories and bots

api() { curl -fsS -m 20 "$url/api/v1/$1"; }

# `repository NAME`: a bare repository whose hook signs what is pushed, and a clone of it in clones/NAME on `main`.
repository() {
    local bare=$scratch/repositories/$1.git
    git init -q --bare -b main "$bare"
    install -m 755 "$root/hooks/post-receive" "$bare/hooks/post-receive"
    head -c 24 /dev/urandom | base64 | tee "$bare/martlet-secret" | secret "$1-webhook"
    chmod 600 "$bare/martlet-secret"
    git -C "$bare" config martlet.url "$url/webhooks/push/$1"
    git -C "$bare" config martlet.secret "$bare/martlet-secret"
    git init -q -b main "$scratch/clones/$1"
    git -C "$scratch/clones/$1" remote add origin "$bare"
    git -C "$scratch/clones/$1" config user.name Showcase
    git -C "$scratch/clones/$1" config user.email showcase@example.org
    git -C "$scratch/clones/$1" config commit.gpgsign false
}
# `bot NAME`: the bot file, its repository and webhook written for it, the rest from standard input. Polling stays on, slowly:
# it repairs a push that a busy machine's daemon could not take within the hook's second, as it would anywhere.
bot() {
    {
        printf 'repository: %s/repositories/%s.git\nwebhook: { secret: %s-webhook }\npoll: 30s\n' "$scratch" "$1" "$1"
        cat
    } >"$scratch/config/bots/.$1.new"
    mv "$scratch/config/bots/.$1.new" "$scratch/config/bots/$1.yml"
    within 20 api "bots/$1"
}
commit() { # NAME, subject, options; prints nothing
    git -C "$scratch/clones/$1" add -A
    git -C "$scratch/clones/$1" commit -q "${@:3}" -m "$2"
}
push() { git -C "$scratch/clones/$1" push -q "${@:3}" origin "HEAD:refs/heads/$2" 2>>"$scratch/push.log"; } # NAME, branch
head_of() { git -C "$scratch/clones/$1" rev-parse HEAD; }

number= result= view=
# The number of BOT's integration of COMMIT on BRANCH, if it is there.
find_number() {
    local listing
    listing=$(api "bots/$1/integrations?limit=100" 2>/dev/null) || return 0
    json "next((i['number'] for i in d['items'] if i['commit'] == '$2' and i['ref'] == 'refs/heads/$3'), '')" <<<"$listing"
}
completed() { # BOT; reads and sets `number` and `view`
    [ -n "$number" ] || number=$(find_number "$@")
    [ -n "$number" ] || return 1
    view=$(api "bots/$1/integrations/$number") && grep -qF '"state":"completed"' <<<"$view"
}
# `await BOT COMMIT BRANCH [SECONDS]`: until that integration is completed; sets number, result and view (its JSON).
await() {
    number= result= view=
    local begin=$SECONDS
    until completed "$1" "$2" "$3"; do
        if [ $((SECONDS - begin)) -ge "${4-300}" ]; then
            result="not completed after ${4-300} s"
            return 1
        fi
        sleep 0.5
    done
    result=$(json "d['result']" <<<"$view")
}
# Pushes HEAD of clones/NAME to BRANCH and awaits its integration.
integrate() { push "$1" "$2" && await "$1" "$(head_of "$1")" "$2" "${3-300}"; }

# ------------------------------------------------------------------------------------------------------- servers

start_sshd() { # sets ssh_port; a server with keys of its own, for this user alone
    local d=$scratch/ssh sshd
    sshd=$(PATH=$PATH:/usr/sbin:/sbin command -v sshd) || return 1
    mkdir -p "$d" "$scratch/served"
    [ "$(id -u)" -ne 0 ] || mkdir -p /run/sshd
    ssh-keygen -q -t ed25519 -N '' -f "$d/host"
    ssh-keygen -q -t ed25519 -N '' -f "$d/user"
    install -m 600 "$d/user.pub" "$d/authorized_keys"
    ssh_port=$(free_port)
    printf '%s\n' "Port $ssh_port" "ListenAddress 127.0.0.1" "HostKey $d/host" "PidFile $d/sshd.pid" "AuthorizedKeysFile $d/authorized_keys" \
        "StrictModes no" "UsePAM no" "PasswordAuthentication no" "KbdInteractiveAuthentication no" "Subsystem sftp internal-sftp" \
        "AllowUsers $(id -un)" "PermitRootLogin prohibit-password" >"$d/sshd_config"
    "$sshd" -f "$d/sshd_config" -E "$d/log" || return 1
    within 5 listens "$ssh_port"
}
