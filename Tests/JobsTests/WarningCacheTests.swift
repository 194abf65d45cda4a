import Jobs
import Model
import Reports
import TestSupport
import Testing

@Suite struct WarningCacheTests {
    private func warning(_ path: String, _ message: String = "unused") -> Finding {
        Finding(category: .warning, message: message, path: path, line: 3)
    }

    private func withCache(_ body: (WarningCache) throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            try body(WarningCache(workspace: Workspace(path: directory.path)))
        }
    }

    @Test(.proves(.reports, "Warnings of files that an incremental build did not compile stay"))
    func testThatAWarningOfAFileThatWasNotCompiledAgainRemains() async throws {
        try await withCache { warnings in
            // given
            try warnings.store(
                [warning("Sources/Kit/a.swift"), warning("Sources/Kit/b.swift")], digest: { _ in "d" })

            // when
            let found = warnings.combine(
                printed: [], compiled: CompiledFiles(log: Array("[1/2] Compiling Kit b.swift\n".utf8)),
                digest: { _ in "d" })

            // then
            #expect(found == [warning("Sources/Kit/a.swift")])
        }
    }

    @Test func testThatAWarningThatIsSaidAgainCountsOnce() async throws {
        try await withCache { warnings in
            // given
            try warnings.store([warning("Sources/Kit/a.swift")], digest: { _ in "d" })

            // when
            let found = warnings.combine(
                printed: [warning("Sources/Kit/a.swift")], compiled: CompiledFiles(), digest: { _ in "d" })

            // then
            #expect(found == [warning("Sources/Kit/a.swift")])
        }
    }

    @Test func testThatAWarningOfAFileThatChangedGoes() async throws {
        try await withCache { warnings in
            // given
            try warnings.store([warning("Sources/Kit/a.swift")], digest: { _ in "before" })

            // when, then: it was compiled again, whatever the log contains
            #expect(warnings.combine(printed: [], compiled: CompiledFiles(), digest: { _ in "after" }) == [])
        }
    }

    @Test func testThatAWarningOfADeletedFileGoes() async throws {
        try await withCache { warnings in
            // given
            try warnings.store([warning("Sources/Kit/a.swift")], digest: { _ in "d" })

            // when, then
            #expect(warnings.combine(printed: [], compiled: CompiledFiles(), digest: { _ in nil }) == [])
        }
    }

    /// A successful job on a full disk would be published as clean without its warnings.
    @Test func testThatWarningsOutliveATreeThatWasEmptied() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let workspace = Workspace(path: directory.path)
            try WarningCache(workspace: workspace).store(
                [warning("Sources/Kit/a.swift"), warning("Sources/Kit/b.swift")], digest: { _ in "d" })

            // when
            let found = WarningCache(workspace: workspace, isTreeGone: true).combine(
                printed: [], compiled: CompiledFiles(log: Array("[1/2] Compiling Kit b.swift\n".utf8)),
                digest: { _ in nil })

            // then
            #expect(found == [warning("Sources/Kit/a.swift")])
        }
    }

    @Test func testThatOnlyWarningsWithAPlaceAreRemembered() async throws {
        try await withCache { warnings in
            // given
            let findings = [
                Finding(category: .error, message: "no", path: "a.swift"), Finding(category: .warning, message: "m"),
            ]
            try warnings.store(findings, digest: { _ in "d" })

            // when, then
            #expect(warnings.combine(printed: [], compiled: CompiledFiles(), digest: { _ in "d" }) == [])
        }
    }

    @Test(arguments: ["", "{", "[{}]", "null"])
    func testThatADamagedMemoryIsAnEmptyOne(text: String) async throws {
        try await withTemporaryDirectory { directory in
            // given
            try directory.write("warnings.json", text)
            let warnings = WarningCache(workspace: Workspace(path: directory.path))

            // when, then
            #expect(
                warnings.combine(printed: [warning("a.c")], compiled: CompiledFiles(), digest: { _ in "d" }) == [
                    warning("a.c")
                ])
        }
    }
}
