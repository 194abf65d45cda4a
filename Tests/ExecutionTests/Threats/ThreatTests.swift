import Basics
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

    /// That the tries of B7 and B8 can get through: with the machine's network, which has its abstract sockets too, they do.
    @Test func testThatWithTheNetworkTheSameTriesGetThrough() async throws {
        try await withLaunched { launched in
            // given
            let listener = try LoopbackSocket()
            defer { listener.stop() }
            let name = "martlet-test-open-\(getpid())"
            let abstract = try AbstractSocket(name)
            defer { abstract.close() }
            let scripts = [
                ThreatRow.connect(["127.0.0.1"], listener.port), ThreatRow.connect(abstract: name),
            ]
            // when
            var logs: [String] = []
            for (index, script) in scripts.enumerated() {
                logs.append(try await launched.run(launched.fenced(script, network: .full), name: "\(index)").log)
            }
            // then
            #expect(logs == ["OPEN 127.0.0.1\ntried\n", "OPEN\ntried\n"])
        }
    }

    /// Those of the list that are not of one job alone, and the suites that hold them.
    private static let elsewhere = [
        "S1": "SecretThreatTests", "S2": "SecretThreatTests", "S3": "SecretThreatTests", "S4": "S4PermissionsTests",
        "K1": "KillSweepTests", "K5": "K5SignalTests", "PW5": "PW5TwoDaemonsTests", "D1": "D1FullDiskTests",
        "D2": "D2ReadOnlyTests", "D3": "D3DescriptorsTests", "D4": "D4MemoryTests", "G5": "HostileTreeTests",
        "G6": "HostileTreeTests", "G7": "HostileRepositoryTests", "G8": "MirrorTests", "G15": "HostileRepositoryTests",
    ]

    @Test func testThatEveryRowOfTheListIsThere() throws {
        let covered = Set(ThreatRow.all.map { $0.id.prefix { $0 != "." } }).union(["B9"])
        for id in ["B1", "B2", "B3", "B4", "B5", "B7", "B8", "B9", "B10", "B11", "J1", "J2", "J3", "J4", "J5", "U7"] {
            #expect(covered.contains(Substring(id)), "\(id)")
        }
        #expect(Set(ThreatRow.all.map(\.id)).count == ThreatRow.all.count)
        let tests = try Directory(opening: Project.root + "/Tests")
        var files: Set<String> = []
        try tests.walk(".", limit: 10_000) { path, _ in
            files.insert(String(String(decoding: path, as: UTF8.self).split(separator: "/").last ?? ""))
        }
        for (id, suite) in Self.elsewhere { #expect(files.contains(suite + ".swift"), "\(id): \(suite)") }
    }
}

extension ThreatRow {
    static let all = exhaustion + processes + peeking + network + files + ends
}
