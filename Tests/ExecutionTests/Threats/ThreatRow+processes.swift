import Execution
import Glibc
import JobProtocol
import TestSupport
import Testing

extension ThreatRow {
    /// In milliseconds: long enough for a shell to start.
    private static let short = TestLimits.passing(milliseconds: 300)

    /// B5: signals, and processes that outlive their job.
    static let processes: [ThreatRow] = [
        ThreatRow(id: "B5.all", what: "kill -9 -1", outcome: .contained) { launched in
            let end = try await launched.run(launched.sandboxed("sleep 1000 & kill -9 -1; echo tried"))
            let launcher = launched.lockOwner(launched.socket + ".lock")
            return end.result == .completed && launcher?.isAlive ?? false ? nil : "\(end.events)"
        },
        script("B5.stop", "SIGSTOP and SIGKILL to the first process", .contained) { _ in
            "kill -STOP 1; kill -KILL 1; kill -STOP $PPID; kill -TERM $PPID; cat /proc/1/stat | cut -d' ' -f3 | grep T && echo OPEN"
        },
        script("B5.daemons", "daemons that ignore what ends them", .contained) { _ in
            """
            (setsid sh -c 'trap "" TERM HUP INT; (sleep 1000 &) ; nohup sleep 1000' > /dev/null 2>&1 &)
            perl -e 'if (!fork) { setpgrp; $SIG{$_} = "IGNORE" for keys %SIG; if (!fork) { sleep 1000 } }'
            """
        },
        script("B5.later", "files of cron and at, systemd-run") { _ in
            """
            for place in /etc/cron.d /etc/crontab.d /var/spool/cron/crontabs /var/spool/cron/atjobs; do
                mkdir -p $place 2>/dev/null && touch $place/x 2>/dev/null && echo OPEN $place
            done
            command -v systemd-run >/dev/null && systemd-run true 2>/dev/null && echo OPEN systemd-run
            """
        },
        script("B5.at", "at") { _ in "echo true | at now && echo OPEN" }.needing("at"),
        script("B5.cron", "crontab") { _ in "echo '* * * * * true' | crontab - && echo OPEN" }.needing("crontab"),
        ThreatRow(id: "J1.ignores", what: "ignores SIGTERM at its time-out", outcome: .contained) { launched in
            let end = try await launched.run(
                launched.sandboxed("trap '' TERM; sleep 1000 & while :; do sleep 1; done", timeout: short))
            return end.step(0) == "signal 9 testing exceeded \(Launched.words(short))" ? nil : "\(end.events)"
        },
        ThreatRow(id: "J1.stopped", what: "is stopped at its time-out", outcome: .contained) { launched in
            let end = try await launched.run(launched.sandboxed("kill -STOP $$; sleep 1000", timeout: short))
            return end.limit == "testing exceeded \(Launched.words(short))" ? nil : "\(end.events)"
        },
        ThreatRow(id: "J1.closes", what: "closes its output and goes on", outcome: .contained) { launched in
            let end = try await launched.run(launched.sandboxed("exec >&- 2>&-; sleep 0.3; exit 5"))
            return end.step(0) == "exit 5" ? nil : "\(end.events)"
        },
        ThreatRow(id: "J1.pipe", what: "writes to a closed pipe", outcome: .contained) { launched in
            let end = try await launched.run(
                launched.sandboxed("exec perl -e 'close STDIN; pipe R, W; close R; syswrite W, 1'"))
            return end.step(0) == "signal 13" && end.reason == "script was ended by SIGPIPE" ? nil : "\(end.events)"
        },
        ThreatRow(id: "U7", what: "scans memory and environments of all processes", outcome: .denied) { launched in
            // given: a process of the same user on the host, with a secret
            let secret = "canary-\(getpid())-7b1e"
            let ready = launched.workspace + "/bystander"
            let bystander = Task {
                try await run(
                    launched.user.command(["sh", "-c", "touch \(ready); read line < \(launched.workspace)/go"]),
                    environment: ["SECRET": secret, "PATH": "/usr/bin:/bin"])
            }
            mkfifo(launched.workspace + "/go", 0o666)
            chmod(launched.workspace, 0o777)
            chmod(launched.workspace + "/go", 0o666)
            await launched.waitFor("bystander")
            // when
            let end = try await launched.run(
                launched.sandboxed(
                    """
                    grep -l canary- /proc/[0-9]*/environ 2>/dev/null && echo OPEN
                    for process in /proc/[0-9]*; do
                        case $(tr '\\0' ' ' < $process/cmdline) in *within-fence*|sh*|tr*|*self*) ;; *) echo OPEN $process;; esac
                    done
                    head -c 1 /proc/1/mem 2>/dev/null && echo OPEN memory
                    echo tried; echo > go
                    """))
            _ = try await bystander.value
            return end.log == "tried\n" ? nil : end.log
        },
    ]
}
