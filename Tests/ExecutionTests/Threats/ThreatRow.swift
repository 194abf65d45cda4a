import Execution
import Glibc
import JobProtocol
import TestSupport
import Testing

/// An act of a job, and its required outcome. The identifiers are those of the list of threats.
struct ThreatRow: Sendable, CustomTestStringConvertible {
    /// The outcome of the act.
    enum Outcome: String, Sendable {
        /// It cannot be done.
        case denied
        /// It affects only the job itself, and ends with it.
        case contained
    }

    let id: String
    let what: String
    let outcome: Outcome
    /// Returns why it cannot be tried on this machine; `nil` if it can.
    var skipped: @Sendable (Launched) async throws -> String? = { _ in nil }
    /// - Returns: What got through, or what else was wrong; `nil` if the row holds.
    let breach: @Sendable (Launched) async throws -> String?

    var testDescription: String { "\(id) \(what)" }

    /// A sandboxed step that prints a line with OPEN for everything that it can reach and must not, and does not end early.
    static func script(
        _ id: String, _ what: String, _ outcome: Outcome = .denied, _ script: @escaping @Sendable (Launched) -> String
    ) -> ThreatRow {
        ThreatRow(id: id, what: what, outcome: outcome) { launched in
            let end = try await launched.run(launched.sandboxed(script(launched) + "\necho tried"))
            return end.log.contains("OPEN") || !end.log.hasSuffix("tried\n")
                ? "\(end.result.map { "\($0)" } ?? ""): \(end.log)" : nil
        }
    }

    /// A sandboxed step that a limit ends within `seconds`.
    static func limit(
        _ id: String, _ what: String, _ words: String, _ limits: JobDescription.Limits, within seconds: Int64 = 60,
        _ script: String
    ) -> ThreatRow {
        ThreatRow(id: id, what: what, outcome: .contained) { launched in
            let end = try await launched.run(launched.sandboxed(script, limits: limits))
            guard end.limit == words else { return "\(end.limit ?? "no limit"): \(end.log.suffix(1000))" }
            let taken = (end.events.last?.at ?? 0) - (end.events.first?.at ?? 0)
            return taken > seconds * 1000 * Int64(TestLimits.scale) ? "it took \(taken) ms" : nil
        }
    }

    /// Skips the row if a program is missing, because its absence alone would deny the act.
    func needing(_ program: String) -> ThreatRow {
        var row = self
        row.skipped = { _ in TestTools.find(program) == nil ? "this machine has no \(program)" : nil }
        return row
    }

    /// Skips the row if the launcher's user gets no control group.
    func needingControlGroups() -> ThreatRow {
        var row = self
        row.skipped = { launched in
            try await Self.finding(for: launched).limits == .rlimit ? "this user has no control groups here" : nil
        }
        return row
    }

    /// Puts the workspace on a file system of its own that belongs to the user. Only its growth decides there, and other processes' deletions would
    /// hide it.
    func onSmallDisk() -> ThreatRow {
        let breach = breach
        return ThreatRow(
            id: id, what: what, outcome: outcome,
            skipped: { _ in
                try await ConditionTrait.smallDisk.evaluate() ? nil : "a tmpfs cannot be mounted here"
            }
        ) { launched in
            var found: String?
            try await SmallDisk.mounted(on: launched.workspace, size: "64m") {
                if launched.user != .own { JobUser.give(launched.workspace) }
                found = try await breach(launched)
            }
            return found
        }
    }

    /// Returns whether the launcher's user can have a sandbox.
    static func finding(for launched: Launched) async throws -> SandboxFinding {
        let probe = try await run(launched.user.command([launched.supervisor, "--probe-fence"]), in: "/")
        return try SandboxFinding(json: probe.standardOutput.dropLast())
    }
}

extension JobUser: CustomTestStringConvertible {
    var testDescription: String {
        self == .own ? "own user" : self == .ordinary ? "ordinary user" : "owner of the workspace"
    }
}
