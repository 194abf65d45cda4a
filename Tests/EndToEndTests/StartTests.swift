import Basics
import Foundation
import Glibc
import TestSupport
import Testing

/// The things that the daemon awaits before it answers.
@Suite struct StartTests {
    @Suite struct GivenAGitThatDoesNotSayItsVersion {
        /// A script that runs the real git once the file beside it is removed.
        private static let git = """
            #!/bin/sh
            while [ -e "${0%/*}/held" ]; do sleep 0.02; done
            exec /usr/bin/env PATH=/usr/local/bin:/usr/bin:/bin git "$@"
            """
        private static let report = "git servers are asked by the machine's git too"

        @Test(
            .proves(
                .programs,
                "The service listens before it asks git and the reader what they can do; the log says so later"),
            .program("curl"))
        func testThatTheServiceListensWithoutItAndReportsItLater() async throws {
            try await withDaemon(isStarted: false) { daemon in
                // given
                try daemon.directory.write("slow/git", Self.git, mode: 0o755)
                try daemon.directory.write("slow/held", "")
                defer { unlink(daemon.directory.path("slow/held")) }

                // when: it is healthy when this returns
                try await daemon.start(after: "PATH='\(daemon.directory.path("slow"))':\"$PATH\"")

                // then: unknown facts are not reported
                #expect(try !daemon.directory.text("daemon.log").contains(Self.report))

                // and when
                unlink(daemon.directory.path("slow/held"))

                // then
                await until("git's version is logged") {
                    (try? daemon.directory.text("daemon.log").contains(Self.report)) == true
                }
            }
        }
    }
}
