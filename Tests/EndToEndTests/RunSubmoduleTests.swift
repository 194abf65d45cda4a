import Foundation
import Model
import TestSupport
import Testing

/// `martlet run` of a repository with a submodule.
@Suite struct RunSubmoduleTests {
    @Test(
        .proves(
            .programs,
            "`martlet run` uses the files of submodules as they are on the disk, and says which are not initialized"))
    func testThatASubmoduleIsBuiltAsItIsOnTheDiskAndAnEmptyOneIsTold() async throws {
        try await withWorkingTree(["Makefile": "all:\n\t@cat lib/word\n"]) { fixture in
            // given
            let library = try await GitRepository.make(at: fixture.directory.path("lib"))
            _ = try await library.commit(files: ["word": "hello\n"])
            let repository = try await GitRepository.make(at: fixture.tree)
            try await repository.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", library.path, "lib")
            let head = try await repository.commit(files: ["README": "kit\n"], message: "First")
            // when
            let clean = try await fixture.martlet()
            try fixture.write(["lib/word": "a.c:3:5: warning: odd\n"])
            let changed = try await fixture.martlet()
            try await repository.git("submodule", "deinit", "-q", "-f", "lib")
            let empty = try await fixture.martlet()
            // then
            #expect(clean.status == 0, "\(clean.stdout)\(clean.stderr)")
            expectContains(clean.stdout, "kit#1: main \(head.abbreviated), in \(fixture.tree)\n")
            expectContains(changed.stdout, "kit#2: main \(head.abbreviated) and changes that are not committed, in ")
            expectContains(changed.stdout, "a.c:3:5: warning: odd [debug]")
            #expect(empty.status == 1)
            expectContains(empty.stdout, "\nsubmodule lib is not initialized and was left empty\n")
        }
    }
}
