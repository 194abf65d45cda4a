import Execution
import Glibc
import JobProtocol
import TestSupport

extension ThreatRow {
    /// B10, B11, J4: the files that are taken from a job, and those that are left for the next.
    static let files: [ThreatRow] = [
        ThreatRow(id: "B10", what: "artifacts that are links, pipes, sockets", outcome: .denied) { launched in
            let job = launched.sandboxed(
                """
                mkdir out; echo x > out/real; ln -s /etc/shadow out/link; ln out/real out/second; mkfifo out/pipe
                ln -s \(launched.directory.path) out/directory; ln -s /dev/zero out/zero
                perl -MSocket -e 'socket(S, PF_UNIX, SOCK_STREAM, 0); bind(S, sockaddr_un("out/socket"))'; echo a > out/a
                """, collect: [.init(patterns: ["out/**"], base: "out")])
            let end = try await launched.run(job)
            let paths = try end.attempt.artifacts().map(\.path)
            // The two names of one file are both in the workspace.
            let isWhole = try end.attempt.leftOut().count == 5 && paths == ["a", "real", "second"]
            return isWhole && end.result == .completed ? nil : "\(paths) \(end.log)"
        },
        ThreatRow(id: "B11", what: "what a job leaves for the next", outcome: .denied) { launched in
            let first = try await launched.run(
                launched.sandboxed(
                    """
                    mkdir -p ~/bin ~/.cache /tmp/cache; for file in ~/bin/git ~/.gitconfig ~/.netrc ~/.cache/x /tmp/cache/x \
                        /dev/shm/x; do echo left > $file; done
                    ipcmk -M 4096 -Q -S 1 > /dev/null 2>&1; mkdir locked; echo x > locked/x; chmod 0 locked
                    perl -e 'mkdir "a\\xff\\nb"'; chattr +i locked 2>/dev/null; sleep 1000 & exit 0
                    """), name: "first")
            guard first.result == .completed else { return "\(first.events) \(first.log)" }
            let second = try await launched.run(
                launched.sandboxed(
                    """
                    find ~ /tmp /dev/shm -mindepth 1 | sed 's/^/OPEN /'
                    test $(ipcs -a | grep -c 0x) = 0 || echo OPEN ipcs
                    pgrep sleep && echo OPEN sleep; chmod 700 locked && rm -r locked && echo tried
                    """), name: "second")
            return second.log == "tried\n" ? nil : second.log
        },
        ThreatRow(id: "J4", what: "artifacts of any name and size, byte for byte", outcome: .contained) { launched in
            let end = try await launched.run(
                launched.sandboxed(
                    """
                    mkdir out; cd out; perl -e 'for ("a\\nb", "c\\xff\\xfe", " ", "-rf", "x" x 255) { open F, ">./$_"; print F $_ }'
                    : > empty; truncate -s 50M sparse; head -c 3M /dev/urandom > random
                    perl -e 'for (1..3000) { open F, ">small$_"; print F $_ }'
                    """, collect: [.init(patterns: ["out/**"], base: "out")]))
            let difference = try await run(["diff", "-r", launched.workspace + "/out", end.attempt.paths.artifacts])
            return end.result == .completed && difference.status == 0
                ? nil : "\(end.log) \(difference.stdout.prefix(500))"
        },
    ]
}
