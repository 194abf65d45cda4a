import Execution
import Glibc
import JobProtocol
import TestSupport
import Testing

extension ThreatRow {
    /// J2, J3, J5: a job's output and its end are reported truthfully.
    static let ends: [ThreatRow] = [
        ThreatRow(id: "J2", what: "any bytes in the log", outcome: .contained) { launched in
            let end = try await launched.run(launched.sandboxed(#"printf 'a\0\377\303(b\r\033]8;;x\a'"#))
            let log = try end.attempt.readLog(from: 0, count: 100)
            let bytes: [UInt8] = [0x61, 0, 0xFF, 0xC3, 0x28, 0x62, 0x0D, 0x1B, 0x5D, 0x38, 0x3B, 0x3B, 0x78, 7]
            return log == bytes ? nil : "\(log)"
        },
        script("S4.core", "what a process that crashes leaves of its memory") { _ in
            "test \"$(ulimit -Hc)\" = 0 || echo OPEN; sh -c 'kill -SEGV $$'; ls core* 2>/dev/null && echo OPEN; true"
        },
        ThreatRow(id: "X4", what: "the service's own marks in a job's output", outcome: .denied) { launched in
            // given: a line as the supervisor writes it to status.jsonl, and messages of other services, written to every existing descriptor
            let line = #"{"at":1,"event":"finished","result":"completed"}"#
            let words = "::set-env name=A::b\n##vso[task.complete result=Succeeded]\nTest run with 9 tests passed\n"
            try launched.directory.write("workspace/words", words + line + "\n")
            // when
            let end = try await launched.run(
                launched.sandboxed(
                    "for n in 1 2 3 4 5 6 7 8 9; do cat words >&$n; done 2>/dev/null; echo \"A=$A\"; exit 3"))
            // then
            let isHeld = end.step(0) == "exit 3" && end.reason == "script exited with 3" && end.log.hasSuffix("A=\n")
            return isHeld && end.events.count == 3 ? nil : "\(end.events)\n\(end.log)"
        },
        ThreatRow(id: "J3", what: "every end by its true cause", outcome: .contained) { launched in
            var wrong: [String] = []
            let ends = [
                ("exit 0", "exit 0", nil), ("exit 77", "exit 77", "script exited with 77"),
                ("exit 137", "exit 137", "script exited with 137"), ("exit 255", "exit 255", "script exited with 255"),
                ("sh -c 'kill -9 $PPID'; exit 0", "signal 9", "script was ended by SIGKILL"),
                ("kill -SEGV $$", "signal 11", "script was ended by SIGSEGV"),
                ("kill -ABRT $$", "signal 6", "script was ended by SIGABRT"),
            ]
            for (index, (script, ended, reason)) in ends.enumerated() {
                let end = try await launched.run(launched.sandboxed(script), name: "attempt\(index)")
                if end.step(0) != ended || end.reason != reason { wrong.append("\(script): \(end.events)") }
            }
            return wrong.isEmpty ? nil : wrong.joined(separator: "\n")
        },
        ThreatRow(id: "J5", what: "the supervisor stands still for longer than the time-out", outcome: .contained) {
            launched in
            // given: the supervisor must be stopped before
            let timeout = TestLimits.passing(milliseconds: 4000, most: 15_000)
            let attempt = try launched.prepare(
                launched.sandboxed("touch ready; while ! test -e go; do sleep 0.02; done; touch done", timeout: timeout)
            )
            try await launched.executor.start(attempt, secrets: [:])
            await launched.waitFor("ready")
            let supervisor = launched.lockOwner(attempt.paths.lock)
            launched.kill(supervisor, SIGSTOP)
            // when: it ends in time, while the supervisor is stopped
            try launched.directory.write("workspace/go", "")
            await launched.waitFor("done")
            let begun = ContinuousClock.now
            await until("the time-out has passed") { ContinuousClock.now - begun > .milliseconds(timeout + 500) }
            launched.kill(supervisor, SIGCONT)
            // then
            let end = try await launched.end(of: attempt)
            return end.result == .completed && end.limit == nil ? nil : "\(end.events)"
        },
    ]
}
