import Basics
import Model
import Reports
import SourceControl
import TestSupport
import Testing

@testable import Releases

@Suite struct LockedInputsTests {
    private let queue = SerialQueue(label: "locks")
    private let digest = String(repeating: "0", count: 64)

    private func inputs(
        of files: [String: String], _ body: (LockedInputs, CommitID) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let fixture = try await PublisherFixture(directory, log: RecordingLogger())
            let commit = try await fixture.work.commit(files: files)
            // Files in a workspace after the job are not what was released.
            for file in files.keys where !file.contains("/") { try directory.write("work/\(file)", "changed") }
            try await fixture.mirror.fetch(try await fixture.mirror.scan().heads)
            try await body(
                LockedInputs(of: commit, in: fixture.mirror, uri: "git+https://h/kit", on: queue), commit)
        }
    }

    private static func goSum(_ numbers: Range<Int>, prefix: String = "a") -> String {
        numbers.map { "\(prefix)\($0) v1.0.0 h1:\(String(repeating: "A", count: 43))=\n" }.joined()
    }

    private static func note(_ input: Provenance.Input) -> String? { input.annotations?["martlet_note"] }

    @Test(
        .proves(
            .releases,
            "Versions: `provenance.json` is an in-toto statement with the SLSA v1 predicate in a DSSE envelope, with digests of every input"
        ))
    func testThatEveryLockFileOfTheCommitIsAnInputBeforeWhatItPins() async throws {
        // given
        let cargo = "[[package]]\nname = \"itoa\"\nversion = \"1.0.11\"\nchecksum = \"\(digest)\"\n"
        let files = [
            "tools/deep er/Cargo.lock": cargo, "go.sum": Self.goSum(1..<2), "tools/Cargo.lock": cargo + "\n",
            "Cargo.lock.txt": cargo, "package-lock.json": "{",
        ]
        try await inputs(of: files) { locked, commit in
            // then
            #expect(
                locked.inputs.map(\.uri) == [
                    "git+https://h/kit@\(commit)#go.sum", "pkg:golang/a1@v1.0.0",
                    "git+https://h/kit@\(commit)#package-lock.json",
                    "git+https://h/kit@\(commit)#tools/Cargo.lock", "pkg:cargo/itoa@1.0.11",
                    "git+https://h/kit@\(commit)#tools/deep%20er/Cargo.lock",
                ])
            for input in locked.inputs {
                guard let name = input.name, let text = files[name] else { continue }
                #expect(input.digest == ["sha256": Digest.sha256(of: Array(text.utf8))], "\(name)")
            }
            #expect(locked.inputs[1].digest == ["dirHash": digest])
            #expect(locked.inputs[4].digest == ["sha256": digest])
            #expect(locked.note == nil)

            // A lock file that cannot be read is reported, and is an input nevertheless
            expectContains(Self.note(locked.inputs[2]) ?? "", "its pinned dependencies could not be read: no JSON")
            #expect(locked.inputs.filter { $0.annotations != nil }.count == 1)
        }
    }

    @Test func testThatLinksAndWhatIsCalledOtherwiseAreNoInputs() async throws {
        try await withTemporaryDirectory { directory in
            let fixture = try await PublisherFixture(directory, log: RecordingLogger())
            try await runExpectingSuccess(["ln", "-s", "../../secret", "go.sum"], in: fixture.work.path)
            try directory.makeDirectory("work/Cargo.lock")
            try directory.write("work/Cargo.lock/file", "a")
            let commit = try await fixture.work.commit()
            try await fixture.mirror.fetch(try await fixture.mirror.scan().heads)
            let locked = try await LockedInputs(of: commit, in: fixture.mirror, uri: "git+https://h/kit", on: queue)
            #expect(locked.inputs == [])
        }
    }

    /// Without a lock file it is unknown what a build resolves, and the statement must not look as if that were nothing.
    @Test(
        .proves(
            .releases,
            "Versions: `provenance.json` is an in-toto statement with the SLSA v1 predicate in a DSSE envelope, with digests of every input"
        ))
    func testThatACommitWithoutALockFileSaysSo() async throws {
        try await inputs(of: ["Package.swift": "", "locks/Cargo.lock.txt": ""]) { locked, _ in
            #expect(locked.inputs.isEmpty)
            #expect(locked.note == "the commit has no lock file: what its build resolved is not among the inputs")
        }
    }

    @Test(
        .proves(
            .releases,
            "Versions: `provenance.json` is an in-toto statement with the SLSA v1 predicate in a DSSE envelope, with digests of every input"
        ))
    func testThatMoreThanAStatementHoldsIsSaid() async throws {
        // given: too many pins together, then in one file, then too many bytes
        let half = LockFile.maximumPins / 2
        let many = ["a/go.sum": Self.goSum(0..<half + 2), "b/go.sum": Self.goSum(half..<2 * half + 5)]
        try await inputs(of: many) { locked, _ in
            #expect(locked.inputs.count == 2 + LockFile.maximumPins)
            #expect(Self.note(locked.inputs[0]) == nil)
            let note = "5 of its pins are not listed: a statement has at most 5000, and 2 MiB of them"
            #expect(Self.note(locked.inputs[half + 3]) == note)
        }
        let one = ["go.sum": Self.goSum(0..<LockFile.maximumPins + 3)]
        try await inputs(of: one) { locked, _ in
            expectContains(Self.note(locked.inputs[0]) ?? "", "3 of its pins are not listed")
        }
        let long = ["go.sum": Self.goSum(0..<4000, prefix: String(repeating: "n", count: 280))]
        try await inputs(of: long) { locked, _ in
            #expect(locked.inputs.count < 3500)
            expectContains(
                Self.note(locked.inputs[0]) ?? "", "\(4001 - locked.inputs.count) of its pins are not listed")
        }
    }

    @Test func testThatFilesBeyondTheirSizeAreInputsByTheirDigestAlone() async throws {
        // given: too large to be read, and too large for a digest
        let large = Self.goSum(0..<3) + String(repeating: "\n", count: LockFile.maximumBytes)
        let huge = String(repeating: "\n", count: LockedInputs.maximumHashed + 1)
        try await inputs(of: ["go.sum": large, "huge/go.sum": huge]) { locked, _ in
            #expect(locked.inputs.count == 2)
            #expect(locked.inputs[0].digest == ["sha256": Digest.sha256(of: Array(large.utf8))])
            #expect(Self.note(locked.inputs[0]) == "its pinned dependencies could not be read: it has more than 8 MiB")
            #expect(locked.inputs[1].digest["gitBlob"]?.count == 40)
            #expect(locked.inputs[1].digest.count == 1)
            #expect(Self.note(locked.inputs[1]) == "its pinned dependencies could not be read: it has more than 64 MiB")
        }
    }

    @Test func testThatOfManyFilesTheNearestToTheRootAreInputs() async throws {
        // given
        var files = ["go.sum": "", "z/go.sum": ""]
        for number in 0..<LockedInputs.maximumFiles { files["fixtures/\(number)/go.sum"] = "" }
        try await inputs(of: files) { locked, commit in
            #expect(locked.inputs.count == LockedInputs.maximumFiles)
            #expect(locked.inputs.prefix(2).map(\.name) == ["go.sum", "z/go.sum"])
            #expect(locked.note == "of 102 lock files the 100 nearest to the root are inputs")
        }
    }
}
