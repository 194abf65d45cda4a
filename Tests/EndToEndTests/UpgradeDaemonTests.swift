import Glibc
import TestSupport
import Testing

/// Another `swift` on the machine of a real daemon.
@Suite struct UpgradeDaemonTests {
    private static let files = [
        "Makefile": "all:\n\t@echo \"cause $$MARTLET_CAUSE\"\ncheck:\n\t@true\n", ".martlet.yml": "analyze: []\n",
    ]

    @Test(
        .proves(
            .intake,
            "A toolchain's upgrade integrates each tip once, also through kills and failed writes; a newer version or commit supersedes a waiting one"
        ), .program("perl"), .program("curl"), .program("python3"))
    func testThatAnotherSwiftIntegratesTheTipOnceAlsoWhenItIsKilled() async throws {
        try await withDaemon(isStarted: false) { daemon in
            // given: a `swift` that only prints its version
            func install(_ version: String) throws {
                try daemon.directory.write(
                    "bin/swift", "#!/bin/sh\necho 'Swift version \(version) (swift-\(version)-RELEASE)'\n", mode: 0o755)
            }
            let path = "PATH=\(daemon.directory.path("bin")):$PATH; export PATH"
            try install("6.3.0")
            try await daemon.start(after: path)
            _ = try await daemon.work.commit(files: Self.files, message: "Begin")
            try await daemon.work.push(to: daemon.remote)
            try await completion(of: 1, daemon)
            let database = daemon.state + "/martlet.sqlite"
            try await until("the first version is noted", limit: .seconds(30) * TestLimits.scale) {
                try await SQLProgram.read("SELECT version FROM toolchains", at: database) == "6.3.0"
            }
            // when: the version changes, and the daemon is killed once it has noticed that
            try await daemon.stop()
            try install("6.3.1")
            try await daemon.start(after: path)
            try await until("the upgrade", limit: .seconds(30) * TestLimits.scale) {
                try await daemon.get("/api/v1/bots/kit/integrations/2").status == 200
            }
            _ = try await daemon.end(by: [SIGKILL])
            try await daemon.start(after: path)
            try await completion(of: 2, daemon)
            // then
            let shown = try await daemon.output("show", "kit#2")
            expectContains(shown, "\nupgrade, Swift 6.3.0 → 6.3.1\nsucceeded")
            expectContains(try await daemon.output("log", "kit#2"), "cause upgrade\n")
            #expect(try await SQLProgram.read("SELECT version FROM toolchains", at: database) == "6.3.1")
            #expect(try await daemon.get("/api/v1/bots/kit/integrations/3").status == 404)
        }
    }

    private func completion(of number: Int, _ daemon: Daemon) async throws {
        try await until("the end of kit#\(number)", limit: .seconds(60) * TestLimits.scale) {
            try await daemon.get("/api/v1/bots/kit/integrations/\(number)").body.contains("\"completed\"")
        }
    }
}
