import Basics
import Foundation
import Glibc
import TestSupport
import Testing

/// `martlet run` with another repository at the path of an earlier run.
@Suite(
    .proves(
        .programs,
        "`martlet run` works after damage of any kind, and in another repository at the same path, which it does not compare with the earlier one"
    ))
struct RunRepositoryTests {
    /// Makes a repository of the fixture's tree.
    private func makeRepository(_ fixture: RunFixture, _ message: String) async throws {
        let repository = try await GitRepository.make(at: fixture.tree)
        _ = try await repository.git("add", "-A")
        _ = try await repository.git("commit", "-q", "-m", message)
    }

    @Test func testThatANewCloneAfterAKilledRunIsRun() async throws {
        try await withWorkingTree(["Makefile": "all:\n\t@: {marker}\n\ncheck:\n\t@sleep 600\n"]) { fixture in
            // given: a run that is killed, with a file that is not committed
            try await makeRepository(fixture, "First")
            try fixture.write(["new": "new\n", "same": "same\n"])
            let program = try await fixture.start()
            await until("its tests run") { (try? fixture.directory.text("output").contains("debug testing")) == true }
            program.signal(SIGKILL)
            try await program.end()
            await until("its launcher is gone") { fixture.supervisors.isEmpty }
            // and another repository at the path
            try FileManager.default.removeItem(atPath: fixture.tree)
            try fixture.write(["Makefile": "all:\n\ncheck:\n\t@test -f new\n", "same": "same\n"])
            try await makeRepository(fixture, "Second")
            try fixture.write(["new": "new\n"])
            // when
            let result = try await fixture.martlet()
            let clean = try await fixture.martlet(["--clean"])
            // then
            #expect(result.status == 0, "\(result.stdout)\(result.stderr)")
            #expect(clean.status == 0, "\(clean.stdout)\(clean.stderr)")
        }
    }

    @Test func testThatAnotherRepositoryAtTheSamePathBeginsAnew() async throws {
        try await withWorkingTree([
            "Makefile": "all:\n\t@echo 'a.c:1:1: warning: odd' >&2; echo x >> out\ncheck:\n\t@true\n",
            ".gitignore": "out\n",
        ]) { fixture in
            // given
            try await makeRepository(fixture, "First")
            #expect(try await fixture.martlet().status == 0)
            #expect(try await fixture.martlet().status == 0)
            #expect(try fixture.built("out") == "x\nx\n")
            try FileManager.default.removeItem(atPath: fixture.tree)
            try fixture.write(["Makefile": "all:\n\t@echo x >> out\ncheck:\n\t@true\n", ".gitignore": "out\n"])
            try await makeRepository(fixture, "Second")
            // when
            let other = try await fixture.martlet()
            let built = try fixture.built("out")
            let again = try await fixture.martlet()
            // then: neither the earlier build nor its issues count
            expectContains(other.stdout, "the repository that was run here before was another one")
            #expect(built == "x\n")
            #expect(!other.stdout.contains("warning") && other.status == 0, "\(other.stdout)")
            // From then on it is the same repository
            #expect(!again.stdout.contains("another one"))
            #expect(try fixture.built("out") == "x\nx\n")
        }
    }
}
