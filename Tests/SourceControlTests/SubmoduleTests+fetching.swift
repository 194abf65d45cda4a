import Basics
import Model
import TestSupport
import Testing

@testable import SourceControl

/// Submodules are fetched once, before any job, and read afterwards.
extension SubmoduleTests {
    @Test(
        .proves(
            .sourceControl, "Submodules are fetched before any job, in the time and bytes of one fetch; jobs read them")
    )
    func testThatReadingThemAsksNoServer() async throws {
        try await Self.withSubmodules { fixture, library, mirrors in
            // given
            let commit = try await fixture.fetch()
            await expectRejection(SourceControlError.self, \.code, .commitMissing) {
                try await mirrors.submodules(of: commit, in: fixture.mirror)
            }
            try await mirrors.fetchSubmodules(of: commit, in: fixture.mirror)
            try Directory(opening: fixture.directory.path("origin")).remove("lib")

            // when, then
            let found = try await mirrors.submodules(of: commit, in: fixture.mirror)
            #expect(found.map(\.path) == ["vendor/lib"])
            try await mirrors.fetchSubmodules(of: commit, in: fixture.mirror)
        }
    }

    @Test(
        .proves(
            .sourceControl, "Submodules are fetched before any job, in the time and bytes of one fetch; jobs read them")
    )
    func testThatAllTogetherHaveTheBytesAndTheTimeOfOneFetch() async throws {
        try await Self.withSubmodules([("a", "../lib"), ("b", "../lib2")]) { fixture, library, mirrors in
            // given: two packs of 600 kB each
            var random: UInt64 = 88_172_645_463_325_252
            let bytes = (0..<600_000).map { _ in
                // xorshift64, which zlib cannot compress.
                random ^= random << 13
                random ^= random >> 7
                random ^= random << 17
                return UInt8(truncatingIfNeeded: random >> 32)
            }
            try Directory(opening: library.path).write("large", bytes: bytes)
            let second = try await library.commit(message: "Large")
            try await library.git("repack", "-adq")
            let source = fixture.directory.path("origin")
            try await runExpectingSuccess(["cp", "-R", source + "/lib", source + "/lib2"])
            try await Self.link([("a", "../lib"), ("b", "../lib2")], to: second, in: fixture.origin)
            let commit = try await fixture.fetch()

            // when, then
            var limits = NetworkLimits()
            for bytes: Int64 in [500_000, 1_000_000] {
                limits.bytes = bytes
                let mirrors = Mirrors(directory: fixture.directory.path("m\(bytes)"), limits: limits)
                let limited = fixture.mirror.limited(limits)
                await expectRejection(SourceControlError.self, \.code, .tooLarge) {
                    try await mirrors.fetchSubmodules(of: commit, in: limited)
                }
            }
            limits.bytes = 2_000_000
            let few = Mirrors(directory: fixture.directory.path("few"), limits: limits)
            try await few.fetchSubmodules(of: commit, in: fixture.mirror.limited(limits))
            limits.fetch = .zero
            let late = Mirrors(directory: fixture.directory.path("late"), limits: limits)
            await expectRejection(SourceControlError.self, \.code, .timedOut) {
                try await late.fetchSubmodules(of: commit, in: fixture.mirror.limited(limits))
            }
        }
    }
}
