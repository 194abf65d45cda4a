import Basics
import Model
import TestSupport
import Testing

@testable import SourceControl

@Suite(
    .proves(
        .sourceControl,
        "The newest-enough `git` of `PATH` is used; one that cannot be started for a moment is tried again, and nothing else is taken in its place"
    ))
struct GitProgramTests {
    private static func script(_ directory: TemporaryDirectory, _ name: String, says: String) throws -> String {
        try directory.write("\(name)/git", "#!/bin/sh\necho \(says)\n", mode: 0o755)
        return directory.path(name)
    }

    @Test func testThatAnOldOneDoesNotHideANewerOne() async throws {
        try await withTemporaryDirectory { directory in
            let old = try Self.script(directory, "old", says: "git version 2.20.1")
            let new = try Self.script(directory, "new", says: "git version 2.44.0")
            let newest = try Self.script(directory, "newest", says: "git version 2.51.0")
            let found = try await SerialQueue(label: "test").run { try GitProgram.find(in: [old, new, newest]) }
            #expect(found?.path == new + "/git")
            #expect(found?.version == "2.44.0")
            #expect(try await SerialQueue(label: "test").run { try GitProgram.find(in: [old]) } == nil)
            #expect(try await SerialQueue(label: "test").run { try GitProgram.find(in: []) } == nil)
        }
    }

    @Test func testThatOneThatCannotBeStartedIsTriedAgain() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let path = directory.path("bin")
            try directory.write("bin/git", "#!/nowhere/sh\n", mode: 0o755)
            let cache = GitProgram.Cache()
            let queue = SerialQueue(label: "test")

            // when, then
            let error = await expectRejection(SourceControlError.self, \.code, .unreachable) {
                try await queue.run { try cache.program(in: [path]) }
            }
            expectContains("\(try #require(error))", "\(path)/git")

            // when it can be started again
            _ = try Self.script(directory, "bin", says: "git version 2.44.0")
            // then
            #expect(try await queue.run { try cache.program(in: [path]) }?.version == "2.44.0")

            // when: it is missing for a while
            try Directory(opening: path).remove("git")
            // then
            #expect(try await queue.run { try cache.program(in: [path]) } == nil)
            _ = try Self.script(directory, "bin", says: "git version 2.45.0")
            #expect(try await queue.run { try cache.program(in: [path]) }?.version == "2.45.0")
        }
    }
}
