import Foundation
import Glibc
import TestSupport
import Testing

/// Lines of the service's log about what it has read and answered.
@Suite struct JournalLinesTests {
    private func lines(_ daemon: Daemon, _ message: String) throws -> [String] {
        try daemon.directory.text("daemon.log").split(separator: "\n").filter { $0.contains(message) }.map(String.init)
    }

    /// Changes the settings and has the service read them.
    private func reload(_ daemon: Daemon, _ settings: String) throws {
        try daemon.directory.write("etc/martlet.yml", settings)
        let pid = try #require(daemon.pid)
        #expect(kill(pid, SIGHUP) == 0)
    }

    @Test(
        .proves(
            .operating,
            "The log says which settings were read, with their digest, and the audit which were taken up, with the changed keys"
        ))
    func testThatSettingsThatAreReadHaveALineAndARow() async throws {
        try await withDaemon { daemon in
            // given
            let path = daemon.settings
            let first = try lines(daemon, "settings were read")
            #expect(first.count == 1)
            expectContains(first.first ?? "", "file=\(path)")
            let sum = try await runExpectingSuccess(["sha256sum", path]).prefix(64)
            expectContains(first.first ?? "", "content=SHA-256 \(sum)")
            // when: they change, and are read again without a change
            let settings = try daemon.directory.text("etc/martlet.yml")
            try reload(daemon, settings + "retention: { integrations: 5 }\n")
            await until("they are read") { (try? lines(daemon, "settings were read").count) == 2 }
            try reload(daemon, settings + "retention: { integrations: 5 }\n")
            await until("they are read again") { (try? lines(daemon, "settings were read").count) == 3 }
            // then: the audit has what differs
            let audit = try await daemon.output("audit", "--action", "settings", "--json")
            #expect(audit.ranges(of: #""action":"settings""#).count == 2)
            expectContains(audit, #""actor":"service","address":null,"bot":null,"subject":"\#(path)""#)
            expectContains(audit, "SHA-256 \(sum)\"")
            expectContains(audit, "; changed: retention\"")
        }
    }

    @Test(
        .proves(
            .operating, "A bot file with errors has a line in the log, with the file, the line and what is wrong, once")
    )
    func testThatABotFileWithErrorsHasALine() async throws {
        try await withDaemon { daemon in
            // given
            let good = try daemon.directory.text("etc/bots/kit.yml")
            #expect(try lines(daemon, "a bot file has errors") == [])
            // when
            try daemon.directory.write("etc/bots/kit.yml", good + "brnches: [main]\n")
            // then
            await until("it is read") { (try? lines(daemon, "a bot file has errors").count) == 1 }
            let line = try #require(try lines(daemon, "a bot file has errors").first)
            expectContains(line, "warning")
            expectContains(line, "\(daemon.directory.path("etc/bots/kit.yml")):4:1: error: ")
            expectContains(line, "did you mean `branches`?")
            // when: it is mended, and another is wrong
            try daemon.directory.write("etc/bots/kit.yml", good)
            try daemon.directory.write("etc/bots/lib.yml", "repository: [\n")
            // then: each has its line once
            await until("both are read") { (try? lines(daemon, "a bot file has errors").count) == 2 }
            expectContains(try lines(daemon, "a bot file has errors").last ?? "", "etc/bots/lib.yml:")
        }
    }

    @Test(
        .proves(.operating, "The log level and the request log change at run time, by a reload of the settings"),
        .proves(.operating, "The request log is written whatever the level is"))
    func testThatTheRequestLogIsSwitchedOnAndOffAtEveryLevel() async throws {
        try await withDaemon { daemon in
            // given
            let settings = try daemon.directory.text("etc/martlet.yml")
            func asked(_ path: String) -> String? {
                try? lines(daemon, "a request was answered").last { $0.contains("path=\(path) ") }
            }
            /// Asks until the requests have lines, or have none any more, and returns the line.
            func ask(_ name: String, hasLine: Bool) async throws -> String? {
                var (number, line) = (0, String?.none)
                try await until("the request log is \(hasLine ? "on" : "off")") {
                    number += 1
                    let path = "/bots/\(name)\(number)"
                    let status = try await daemon.get(path).status
                    #expect(status == 404)
                    line = asked(path)
                    return (line != nil) == hasLine
                }
                return line
            }
            #expect(try await ask("before", hasLine: false) == nil)
            for level in ["notice", "error"] {
                // when
                try reload(daemon, settings + "log: { level: \(level), requests: true }\n")
                // then
                let line = try #require(try await ask(level, hasLine: true))
                for part in [" info", "method=GET", "status=404", "from=127.0.0.1"] { expectContains(line, part) }
                // when
                try reload(daemon, settings + "log: { level: \(level) }\n")
                // then
                #expect(try await ask("off-\(level)-", hasLine: false) == nil)
            }
        }
    }
}
