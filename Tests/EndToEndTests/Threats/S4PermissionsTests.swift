import CoreFoundation
import Glibc
import TestSupport
import Testing

/// Row S4: the files that other users of the machine may read. That a crash leaves no core is a row of `ThreatTests`.
@Suite(.threat("S4")) struct S4PermissionsTests {
    @Test(.proves(.jobs, "A state directory that others may read is closed, and said (S4)"), .program("curl"))
    func testThatAStateThatOthersMayReadIsClosedAndSaid() async throws {
        try await withDaemon(isStarted: false) { daemon in
            // given
            try daemon.directory.makeDirectory("state")
            for name in ["martlet.sqlite"] { try daemon.directory.write("state/" + name, "", mode: 0o644) }
            chmod(daemon.state, 0o755)

            // when
            try await daemon.start()

            // then
            #expect(mode(daemon.state) == 0o710)
            for name in ["martlet.sqlite", "martlet.sqlite-wal", "martlet.sqlite-shm", "martlet.socket"] {
                #expect(mode(daemon.state + "/" + name) & 0o077 == 0, "\(name)")
            }
            expectContains(try daemon.directory.text("daemon.log"), "the state directory was open to other users")
        }
    }

    @Test(.program("curl")) func testThatNothingIsSaidOfOneThatIsClosed() async throws {
        try await withDaemon { daemon in
            #expect(mode(daemon.state) == 0o710)
            let log = try daemon.directory.text("daemon.log")
            #expect(!log.contains("open to others"))
        }
    }

    /// A web server is in the service's group, only for published files.
    @Test(
        .proves(
            .jobs,
            "The service's group, for a web server, reads only published files of public products; the start closes states of earlier versions (S4)"
        ), .program("curl"))
    func testThatItsGroupReadsNothingButPublishedFiles() async throws {
        try await withDaemon(isStarted: false) { daemon in
            // given: as earlier versions left it
            let directories = ["repositories", "workspaces", "integrations", "staging", "files", "working"]
            for name in directories {
                try daemon.directory.makeDirectory("state/\(name)/kit")
                for place in [name, name + "/kit"] { chmod(daemon.state + "/" + place, 0o750) }
            }
            chmod(daemon.state, 0o750)

            // when
            try await daemon.start()

            // then
            for name in directories {
                #expect(mode("\(daemon.state)/\(name)") == (name == "files" ? 0o710 : 0o700), "\(name)")
            }
            #expect(mode(daemon.state) == 0o710)
            // Nothing of it is published, so no other user may look.
            await until("the product is closed") { mode(daemon.state + "/files/kit") == 0o700 }
        }
    }

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        #expect(stat(path, &status) == 0, "\(path)")
        return status.st_mode & 0o7777
    }
}
