import Foundation
import Glibc
import TestSupport
import Testing

/// SIGHUP, which `systemctl reload` sends.
@Suite struct ReloadTests {
    private func log(_ daemon: Daemon) -> String { (try? daemon.directory.text("daemon.log")) ?? "" }

    /// Returns the number of reloads that the log reports.
    private func reloads(_ daemon: Daemon) -> Int {
        log(daemon).ranges(of: "settings and bot files were read again").count
    }

    @Test(
        .proves(
            .programs,
            "SIGHUP reads the settings and the bot files again: `concurrency` and `retention` apply, and other changed keys are named"
        ))
    func testThatSIGHUPAppliesWhatCanChangeAndNamesTheRest() async throws {
        try await withDaemon { daemon in
            // given
            let settings = try daemon.directory.text("etc/martlet.yml")
            let pid = try #require(daemon.pid)
            try daemon.directory.write(
                "etc/martlet.yml", settings + "\nretention: { integrations: 5 }\nimages: /srv/images\n")
            // when
            #expect(kill(pid, SIGHUP) == 0)
            // then
            await until("it is read") { reloads(daemon) == 1 && log(daemon).contains("need a restart") }
            expectContains(log(daemon), "retention")
            expectContains(log(daemon), "images")
            #expect(daemon.pid == pid)
            #expect(try await daemon.get("/health").status == 200)
            // when: the settings are wrong
            try daemon.directory.write("etc/martlet.yml", settings + "\nretntion: {}\n")
            #expect(kill(pid, SIGHUP) == 0)
            // then: the service goes on
            await until("the error is logged") {
                log(daemon).contains("bot files were read again, with the settings from before")
            }
            expectContains(log(daemon), "did you mean `retention`?")
            #expect(reloads(daemon) == 1)
            #expect(try await daemon.get("/health").status == 200)
        }
    }

    @Test(
        .proves(.programs, "Wrong settings end the service with the exit status 78, and the unit is not started again"))
    func testThatWrongSettingsEndItForGood() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let settings = try directory.write("martlet.yml", "lisen: 127.0.0.1:0\n")
            // when
            let result = try await run([try TestTools.builtProduct("martlet"), "serve", "--settings", settings])
            // then
            #expect(result.status == 78)
            expectContains(result.stderr, "did you mean `listen`?")
            let unit = try String(contentsOfFile: Project.root + "/deploy/martlet.service", encoding: .utf8)
            expectContains(unit, "RestartPreventExitStatus=78\n")
            expectContains(unit, "ExecReload=/bin/kill -HUP $MAINPID\n")
        }
    }
}
