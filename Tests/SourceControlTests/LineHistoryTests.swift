import Model
import SourceControl
import TestSupport
import Testing

@Suite struct LineHistoryTests {
    private let limit = Mirror.HistoryLimit(steps: 10_000, time: TestLimits.wait)

    /// Returns the commit of each line according to `git blame -w`.
    private func blame(_ fixture: Fixture, _ path: String, _ options: [String] = []) async throws -> [CommitID?] {
        let text = try await fixture.origin.git(
            ["blame", "-w", "-l", "-s", "--root"] + options + ["HEAD", "--", path])
        return text.split(separator: "\n").map { CommitID($0.prefix(40)) }
    }

    private func origins(
        _ fixture: Fixture, _ path: String, _ count: Int, at head: CommitID, among: Set<CommitID>? = nil
    ) async throws -> [CommitID?] {
        let places = (1...count).map { LinePlace(path: path, line: $0) }
        let found = try await fixture.mirror.origins(of: places, at: head, among: among, limit: limit)
        return places.map { found[$0] }
    }

    @Suite struct GivenAHistoryOfManyEdits {
        private let outer = LineHistoryTests()

        /// Makes 30 commits on two branches that insert, remove, change, indent and rename, and are merged repeatedly.
        private func make(_ fixture: Fixture) async throws -> [CommitID] {
            var random = Mutator(state: 7)
            var commits: [CommitID] = []
            var path = "a.txt"
            func edit(_ lines: inout [String], _ number: Int) {
                switch Int.random(in: 0..<4, using: &random) {
                case 0: lines.insert("new of \(number)", at: Int.random(in: 0..<lines.count, using: &random))
                case 1: lines.remove(at: Int.random(in: 0..<lines.count, using: &random))
                case 2: lines[Int.random(in: 0..<lines.count, using: &random)] = "changed by \(number)"
                default: lines[Int.random(in: 0..<lines.count, using: &random)] += " "
                }
            }
            var lines = (1...30).map { "first \($0)" }
            func commit(_ number: Int) async throws {
                commits.append(
                    try await fixture.origin.commit(
                        files: [path: lines.joined(separator: "\n") + "\n"], message: "\(number)"))
            }
            try await commit(0)
            for number in 1...20 {
                edit(&lines, number)
                if number % 7 == 0 {
                    try await fixture.origin.git("mv", path, "b\(number).txt")
                    path = "b\(number).txt"
                }
                try await commit(number)
                guard number % 4 == 0 else { continue }
                // A side branch that changes the end, while main changes the beginning.
                let main = lines
                try await fixture.origin.branch("side")
                lines.append("side of \(number)")
                try await commit(100 + number)
                try await fixture.origin.checkout("main")
                lines = main
                lines.insert("before the merge \(number)", at: 0)
                try await commit(200 + number)
                let date = Timestamp(secondsSinceEpoch: 1_767_400_000 + Int64(number))
                try await fixture.origin.git(["merge", "-q", "--no-ff", "-m", "Merge", "side"], date: date)
                commits.append(try await fixture.origin.head())
                lines.append("side of \(number)")
            }
            return commits + [try await fixture.origin.head()]
        }

        @Test(
            .proves(
                .issueHistory,
                "An issue's suspect is found by the line's blame, then the file's commits, then the single author: seven strategies"
            ))
        func testThatEveryLineIsOfTheCommitThatGitBlames() async throws {
            try await withOrigin { fixture in
                // given
                let commits = try await make(fixture)
                _ = try await fixture.fetch()
                // when
                let blamed = try await outer.blame(fixture, "b14.txt")
                let found = try await outer.origins(fixture, "b14.txt", blamed.count, at: commits[commits.count - 1])
                // then
                #expect(blamed.count > 20)
                #expect(Set(blamed).count > 8)
                #expect(found == blamed)
            }
        }

        @Test(
            .proves(
                .issueHistory,
                "An issue's suspect is searched from the integration before, or from the common ancestor after a forced push, within limits"
            ))
        func testThatLinesOfBeforeAnIntervalAreNobodysInIt() async throws {
            try await withOrigin { fixture in
                // given
                let commits = try await make(fixture)
                _ = try await fixture.fetch()
                let (base, head) = (commits[12], commits[commits.count - 1])
                let interval = try await fixture.mirror.commits(from: base, to: head, limit: 100).map(\.id)
                // when
                let blamed = try await outer.blame(fixture, "b14.txt")
                let found = try await outer.origins(
                    fixture, "b14.txt", blamed.count, at: head, among: Set(interval))
                // then
                let expected = blamed.map { $0.flatMap { interval.contains($0) ? $0 : nil } }
                #expect(expected.contains(nil) && expected.contains { $0 != nil })
                #expect(found == expected)
            }
        }
    }

    @Test(
        .proves(
            .issueHistory,
            "An issue's suspect is searched from the integration before, or from the common ancestor after a forced push, within limits"
        ))
    func testThatTheLimitEndsIt() async throws {
        try await withOrigin(["a.c": "1\n"]) { fixture in
            for number in 0..<9 { _ = try await fixture.origin.commit(files: ["b.c": "\(number)\n"]) }
            let head = try await fixture.origin.head()
            _ = try await fixture.fetch()
            let place = LinePlace(path: "a.c", line: 1)
            func found(steps: Int) async throws -> Int {
                try await fixture.mirror.origins(
                    of: [place], at: head, among: nil, limit: .init(steps: steps, time: TestLimits.wait)
                ).count
            }
            #expect(try await found(steps: 5) == 0)
            #expect(try await found(steps: 1000) == 1)
        }
    }

    @Test func testThatItTellsWhoChangedAFile() async throws {
        try await withOrigin(["a.c": "1\n", "b.c": "1\n"]) { fixture in
            // given
            let origin = fixture.origin
            let first = try await origin.head()
            let one = try await origin.commit(files: ["a.c": "2\n"])
            let two = try await origin.commit(files: ["b.c": "2\n"])
            try await origin.git("mv", "a.c", "z.c")
            let three = try await origin.commit()
            let four = try await origin.commit(files: ["z.c": "4\n"])
            _ = try await fixture.fetch()
            // when
            let mirror = fixture.mirror
            let among = try await mirror.modifications(
                of: ["z.c": ["z.c", "a.c"], "b.c": ["b.c"]], among: [four, three, two, one], limit: limit)
            let last = try await mirror.lastModifications(of: ["b.c", "z.c"], at: four, each: 2, limit: limit)
            // then
            #expect(among == ["z.c": [four, three, one], "b.c": [two]])
            #expect(last == ["z.c": [four, three], "b.c": [two, first]])
        }
    }
}
