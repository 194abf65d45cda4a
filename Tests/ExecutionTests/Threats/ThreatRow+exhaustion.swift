import Execution
import JobProtocol

extension ThreatRow {
    /// B1–B4: jobs that take all of a resource.
    static let exhaustion: [ThreatRow] = [
        limit(
            "B1", "fork bomb", "processes over 64", .init(processes: 64), within: 5,
            "perl -e 'while (1) { fork }'; echo survived"),
        limit(
            "B2.memory", "twice the memory", "out of memory at 64 MiB", .init(memoryBytes: 64 << 20),
            "perl -e '$a = \"x\" x (128 << 20); sleep 600'; sleep 600"
        ).needingControlGroups(),
        limit(
            "B2.temporary", "twice the memory in /tmp", "out of memory at 32 MiB", .init(memoryBytes: 32 << 20),
            "head -c 60M /dev/zero > /tmp/a; head -c 60M /dev/zero > /dev/shm/a; sleep 600"
        ).needingControlGroups(),
        script("B2.sizes", "more than /tmp and the home hold", .contained) { _ in
            """
            head -c 100M /dev/zero > /tmp/a 2>/dev/null && echo OPEN /tmp
            head -c 100M /dev/zero > /dev/shm/a 2>/dev/null && echo OPEN /dev/shm
            head -c 100M /dev/zero > ~/a 2>/dev/null && echo OPEN home
            for place in /dev / /etc /run /martlet; do head -c 1K /dev/zero 2>/dev/null > $place/a && echo OPEN $place; done
            """
        },
        limit(
            "B3.bytes", "a full workspace", "workspace over 20 MiB", .init(workspaceBytes: 20 << 20),
            "for i in $(seq 40); do head -c 1M /dev/zero > $i; done; sleep 600"),
        limit(
            "B3.files", "a million empty files", "workspace over 1,000 files", .init(workspaceFiles: 1000),
            "perl -e 'for (1..1000000) { open F, \">f$_\"; close F }'; sleep 600"),
        limit(
            "B3.deep", "directories ten thousand deep", "workspace over 256 levels of directories", .init(),
            "perl -e 'for (1..10000) { mkdir \"d\"; chdir \"d\" }; sleep 600'"),
        limit(
            "B3.hidden", "a directory that cannot be read", "workspace over 20 MiB", .init(workspaceBytes: 20 << 20),
            "mkdir d; exec 9> d/x; for i in $(seq 40); do head -c 1M /dev/zero > d/$i; done; chmod 0 d; sleep 600"
        ).onSmallDisk(),
        limit(
            "B3.deleted", "files without a name", "workspace over 20 MiB", .init(workspaceBytes: 20 << 20),
            "perl -e 'for (1..8) { open $f[$_], \">f\"; unlink \"f\"; print { $f[$_] } \"x\" x 5e6; $f[$_]->flush } sleep 600'"
        ),
        limit(
            "B4.lines", "an endless log", "log over 1 MiB", .init(logBytes: 1 << 20), "yes"),
        limit(
            "B4.line", "an endless line", "log over 1 MiB", .init(logBytes: 1 << 20), "tr '\\0' x < /dev/zero"),
        limit("B4.binary", "endless bytes", "log over 1 MiB", .init(logBytes: 1 << 20), "cat /dev/urandom"),
        ThreatRow(id: "B4.slow", what: "one byte at a time", outcome: .contained) { launched in
            let end = try await launched.run(
                launched.sandboxed("perl -e '$| = 1; for (1..20000) { syswrite STDOUT, \"x\" }'"))
            let index = try end.attempt.readIndex().count
            return end.log.count == 20_000 && index < 5000 ? nil : "\(end.log.count) bytes, \(index) records"
        },
    ]
}
