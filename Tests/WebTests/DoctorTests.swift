import Basics
import Foundation
import Model
import TestSupport
import Testing

/// What `martlet doctor` says of a machine.
@Suite struct DoctorTests {
    @Test(
        .proves(
            .programs,
            "`martlet`: serve, doctor; lint, init, schema; bots, bot, webhook, integrate, integrations, show, log, issues, tests, artifacts, cancel, rerun; versions, fetch, yank; token, secret"
        ))
    func testThatDoctorSaysWhatIsMissing() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let settings = try directory.write(
                "martlet.yml", "state: \(directory.path("state"))\nisolation: none\n")
            try directory.write("bots/kit.yml", "repository: /srv/kit.git\nbrnches: [main]\n")
            // when
            let result = try await run(
                [try TestTools.builtProduct("martlet"), "doctor", "--settings", settings],
                environment: ["PATH": directory.path, "HOME": directory.path])
            // then
            #expect(result.status == 1)
            expectContains(result.stdout, "!!  bot file  \(directory.path("bots/kit.yml")):2:1: error: ")
            expectContains(result.stdout, "!!  swift  not in PATH; install it to build Swift packages\n")
            expectContains(result.stdout, "--  isolation  none: jobs run as the service's user with all its rights")
            expectContains(
                result.stdout, "--  state  \(directory.path("state")) does not exist yet; `martlet serve` makes it\n")
            let troubles = result.stdout.split(separator: "\n").count { $0.hasPrefix("!!") }
            #expect(troubles == 4)
            expectContains(result.stderr, "4 problems; each line with !! says what to do")
        }
    }

    @Test func testThatDoctorIsContentWhenNothingIsMissing() async throws {
        try await withTemporaryDirectory { directory in
            // given
            for tool in ["swift", "make", "clang"] { try directory.write("tools/\(tool)", "", mode: 0o755) }
            try directory.makeDirectory("state")
            let settings = try directory.write(
                "martlet.yml", "state: \(directory.path("state"))\nisolation: none\n")
            try directory.write("bots/kit.yml", "repository: /srv/kit.git\n")
            func doctor() async throws -> ProgramResult {
                try await run(
                    [try TestTools.builtProduct("martlet"), "doctor", "--settings", settings],
                    environment: ["PATH": directory.path("tools"), "HOME": directory.path])
            }
            // when
            let content = try await doctor()
            try directory.directory().remove("tools/clang")
            let lacking = try await doctor()
            // then: the free space of the machine's disk does not matter here
            #expect(
                content.stdout.split(separator: "\n").allSatisfy { !$0.hasPrefix("!!") || $0.hasPrefix("!!  disk") })
            #expect(content.stdout.contains("!!") || content.status == 0, "\(content.stderr)")
            expectContains(content.stdout, "ok  reader  reports are read with a filter of system calls\n")
            #expect(lacking.status == 1)
            expectContains(lacking.stdout, "!!  clang  not in PATH; install it to analyze C sources\n")
            expectContains(lacking.stderr, content.status == 0 ? "1 problem;" : "2 problems;")
        }
    }

    @Test(
        .proves(
            .sandbox,
            "`doctor`, every page, the integration's page, API and command line say which isolation, and why none"),
        .sandbox)
    func testThatDoctorSaysWhetherJobsAreSandboxed() async throws {
        try await withTemporaryDirectory { directory in
            // given
            try directory.makeDirectory("state")
            func doctor(_ more: String) async throws -> String {
                let settings = try directory.write("martlet.yml", "state: \(directory.path("state"))\n\(more)\n")
                return try await run(
                    [try TestTools.builtProduct("martlet"), "doctor", "--settings", settings],
                    environment: ["PATH": "/usr/bin:/bin", "HOME": directory.path]
                ).stdout
            }
            // when, then
            expectContains(try await doctor(""), "ok  isolation  sandbox: each step runs in a sandbox; ")
            expectContains(try await doctor("isolation: sandbox"), "ok  isolation  sandbox: ")
            expectContains(try await doctor("isolation: none"), "the sandbox works here: remove `isolation: none`")
            expectContains(
                try await doctor("sandbox: { read-only: /nowhere }"),
                "!!  isolation  sandbox: read-only: /nowhere is not there")
        }
    }
}
