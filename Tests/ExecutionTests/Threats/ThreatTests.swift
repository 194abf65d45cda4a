import Execution
import Glibc
import JobProtocol
import TestSupport
import Testing

/// Everything that the list of threats says of jobs, tried by real programs in fenced jobs, as each user that there is.
/// Every row prints its identifier and `denied`, `contained` or `skipped: reason`, and fails otherwise.
@Suite(.program("bwrap"), .program("perl")) struct ThreatTests {
    @Test(arguments: ThreatRow.all, JobUser.possible) func testThatItIsHeld(row: ThreatRow, user: JobUser) async throws
    {
        try await withLaunched(as: user) { launched in
            if let reason = try await row.skipped(launched) {
                return print("\(row.id) \(row.what), \(user.testDescription): skipped: \(reason)")
            }
            // when
            let breach = try await row.breach(launched)
            // then
            if let breach {
                Issue.record("\(row.id) \(row.what), \(user.testDescription): \(breach)")
            } else {
                print("\(row.id) \(row.what), \(user.testDescription): \(row.outcome.rawValue)")
            }
            // B5, J1: nothing of a job is left.
            #expect(launched.directory.processes(of: "MARTLET_TEST_CANARY=\(launched.directory.path)").isEmpty)
            #expect(ControlGroups.left(by: launched.lockOwner(launched.attempt().paths.lock)).isEmpty)
        }
    }

    @Test func testThatEveryRowOfTheListIsThere() {
        let covered = Set(ThreatRow.all.map { $0.id.prefix { $0 != "." } }).union(["B9"])
        for id in ["B1", "B2", "B3", "B4", "B5", "B7", "B8", "B9", "B10", "B11", "J1", "J2", "J3", "J4", "J5", "U7"] {
            #expect(covered.contains(Substring(id)), "\(id)")
        }
        #expect(Set(ThreatRow.all.map(\.id)).count == ThreatRow.all.count)
    }
}

extension ThreatRow {
    static let all = exhaustion + processes + peeking + network + files + ends
}
