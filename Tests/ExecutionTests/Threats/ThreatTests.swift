import Basics
import Execution
import Glibc
import JobProtocol
import TestSupport
import Testing

/// Every threat by jobs in the list, tried by real programs in sandboxed jobs, as each available user. Every row prints its identifier and
/// `denied`, `contained` or `skipped: reason`, or fails.
@Suite(.program("bwrap"), .program("perl")) struct ThreatTests {
    @Test(
        .proves(
            .jobs,
            "The host's loopback is out of reach of every sandboxed step, also with the network and on any interface; other hosts can be reached"
        ), .proves(.jobs, "The list of threats against jobs, row by row: denied, contained or skipped with the reason"),
        arguments: ThreatRow.all, JobUser.possible)
    func testThatItIsHeld(row: ThreatRow, user: JobUser) async throws {
        let reason: String? = try await withLaunched(as: user) { launched in
            if let reason = try await row.skipped(launched) { return reason }
            // when
            var breach = try await row.breach(launched)
            // B5, J1: nothing of a job is left.
            let left =
                launched.directory.processes(of: "MARTLET_TEST_CANARY=\(launched.directory.path)").map(String.init)
                + launched.groups
            if breach == nil, !left.isEmpty { breach = "left: \(left.joined(separator: " "))" }
            // then
            if let breach {
                Issue.record("\(row.id) \(row.what), \(user.testDescription): \(breach)")
            } else {
                print("\(row.id) \(row.what), \(user.testDescription): \(row.outcome.rawValue)")
            }
            return nil
        }
        guard let reason else { return }
        print("\(row.id) \(row.what), \(user.testDescription): skipped: \(reason)")
        // This comes after all has ended, because it cancels the task and so every wait.
        try Test.cancel("\(reason)")
    }

    /// Shows that the attempts of B7 and B8 can succeed: they do with the machine's network, which has its abstract sockets too.
    @Test func testThatWithTheNetworkTheSameTriesGetThrough() async throws {
        try await withLaunched { launched in
            // given
            let listener = try LoopbackSocket()
            defer { listener.stop() }
            let name = "martlet-test-open-\(getpid())"
            let abstract = try AbstractSocket(name)
            defer { abstract.close() }
            let scripts = [
                ThreatRow.connect(
                    ["127.0.0.1"], listener.port, within: Int(TestLimits.never(milliseconds: 2000) / 1000)),
                ThreatRow.connect(abstract: name),
            ]
            // when
            var logs: [String] = []
            for (index, script) in scripts.enumerated() {
                logs.append(
                    try await launched.run(
                        launched.sandboxed(script, network: .full, sharesNetwork: true), name: "\(index)"
                    ).log)
            }
            // then
            #expect(logs == ["OPEN 127.0.0.1\ntried\n", "OPEN\ntried\n"])
        }
    }

    @Test(
        .proves(.jobs, "The list of threats against jobs, row by row: denied, contained or skipped with the reason"),
        .proves(
            .jobs,
            "Each test of a threat that is not of one job alone prints its row, and says what was not tried (S1–S4, K1, K5, PW5, D1–D4, G5–G8, G15)"
        ))
    func testThatEveryRowOfTheListIsThere() throws {
        let covered = Set(ThreatRow.all.map { $0.id.prefix { $0 != "." } }).union(["B9"])
        for id in ["B1", "B2", "B3", "B4", "B5", "B7", "B8", "B9", "B10", "B11", "J1", "J2", "J3", "J4", "J5", "U7"] {
            #expect(covered.contains(Substring(id)), "\(id)")
        }
        #expect(Set(ThreatRow.all.map(\.id)).count == ThreatRow.all.count)
        // The rows that are not of one job alone are marked at their tests.
        let tests = try Directory(opening: Project.root + "/Tests")
        var marks: Set<String> = []
        try tests.walk(".", limit: 10_000) { path, status in
            let name = String(decoding: path, as: UTF8.self)
            guard status.kind == .file, name.hasSuffix("Tests.swift") else { return }
            let text = String(decoding: try tests.read(name, limit: 1 << 20), as: UTF8.self)
            marks.formUnion(text.matches(of: /[(,]\s*\.threat\("([A-Z0-9]+)"\)/).map { String($0.1) })
        }
        #expect(marks == Set(Threat.all.map(\.id)))
        for id in ["S1", "S2", "S3", "S4", "K1", "K5", "PW5", "D1", "D2", "D3", "D4", "G5", "G6", "G7", "G8", "G15"] {
            #expect(marks.contains(id), "\(id)")
        }
    }

    @Test(
        .proves(
            .jobs,
            "Each test of a threat that is not of one job alone prints its row, and says what was not tried (S1–S4, K1, K5, PW5, D1–D4, G5–G8, G15)"
        ))
    func testThatWhatIsNotTriedIsSaid() {
        let rows = Set(Threat.all.map(\.id))
        for (id, reason) in Threat.untried.sorted(by: { $0.key < $1.key }) {
            #expect(rows.contains(String(id.prefix { $0 != "." })), "\(id) is a part of no row")
            print("\(id) not tried: skipped: \(reason)")
        }
    }
}

extension ThreatRow {
    static let all = exhaustion + processes + peeking + network + ownNetwork + files + ends
}
