import API
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
            let repository = try await GitRepository.make(at: directory.path("kit"))
            _ = try await repository.commit(files: ["a": "b"])
            try directory.write("bots/kit.yml", "repository: \(repository.path)\n")
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
            expectContains(content.stdout, "ok  repository  kit: 1 ref\n")
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

/// What `martlet doctor` says of the service: its unit, the daemon, repositories and targets.
@Suite(
    .proves(
        .programs,
        "`doctor` examines the service with the user and the PATH of its unit: unit, daemon, bot files, secrets, repositories and targets, each finding with its remedy; `--json`"
    ))
struct DoctorServiceTests {
    /// Runs `martlet doctor --json`.
    /// - Parameters:
    ///   - path: PATH of the command.
    private func doctor(
        _ directory: TemporaryDirectory, _ settings: String = "", path: String = "/usr/bin:/bin"
    ) async throws -> (diagnosis: API.Diagnosis, status: Int32) {
        let file = try directory.write(
            "martlet.yml", "isolation: none\nstate: \(directory.path("state"))\n\(settings)\n")
        let result = try await run(
            [try TestTools.builtProduct("martlet"), "doctor", "--json", "--settings", file],
            environment: ["PATH": path, "HOME": directory.path])
        let diagnosis = try JSONDecoder().decode(API.Diagnosis.self, from: Data(result.stdout.utf8))
        return (diagnosis, Int32(result.status))
    }

    private func findings(_ subject: String, in diagnosis: API.Diagnosis) -> [API.Diagnosis.Finding] {
        diagnosis.findings.filter { $0.subject == subject }
    }

    /// Makes a `systemctl` that describes `martlet.service`.
    private func makeSystemd(_ directory: TemporaryDirectory, state: String, path: String) throws -> String {
        let script = """
            #!/bin/sh
            case "$*" in
            *show-environment*) printf 'LANG=C.UTF-8\\nPATH=/usr/bin:/bin\\n' ;;
            *martlet.service*) cat <<'END'
            LoadState=loaded
            ActiveState=\(state)
            Result=exit-code
            ExecMainStatus=78
            UnitFileState=enabled
            ExecStart={ argv[]=/usr/bin/martlet serve --settings \(directory.path("martlet.yml")) }
            Environment=PATH=\(path)
            LoadCredential=hook:/etc/hook
            END
            ;;
            *) echo LoadState=not-found ;;
            esac

            """
        try directory.write("systemd/systemctl", script, mode: 0o755)
        return directory.path("systemd") + ":/usr/bin:/bin"
    }

    @Test func testThatItExaminesTheUnitAndWithItsPATH() async throws {
        try await withTemporaryDirectory { directory in
            // given: tools that only the unit's PATH has, and a credential that only the unit has
            for tool in ["swift", "make", "clang"] { try directory.write("tools/\(tool)", "", mode: 0o755) }
            try directory.write("bots/kit.yml", "repository: \(directory.path("kit"))\nwebhook: { secret: hook }\n")
            let path = try makeSystemd(directory, state: "failed", path: directory.path("tools") + ":/usr/bin:/bin")
            // when
            let (diagnosis, status) = try await doctor(directory, path: path)
            // then
            #expect(status == 1)
            let unit = try #require(findings("unit", in: diagnosis).first)
            #expect(unit.state == "problem")
            #expect(unit.text == "martlet.service is failed (exit-code, status 78)")
            expectContains(unit.remedy ?? "", "journalctl -u martlet")
            #expect(findings("clang", in: diagnosis).map(\.text) == [directory.path("tools/clang")])
            #expect(findings("secret", in: diagnosis).map(\.state) == ["note"])
        }
    }

    @Test func testThatAnActiveUnitWithoutADaemonIsAProblem() async throws {
        try await withTemporaryDirectory { directory in
            let path = try makeSystemd(directory, state: "active", path: "/usr/bin:/bin")
            let (diagnosis, _) = try await doctor(directory, path: path)
            #expect(findings("unit", in: diagnosis).first?.state == "ok")
            let daemon = try #require(findings("daemon", in: diagnosis).first)
            #expect(daemon.state == "problem")
            expectContains(daemon.text, "no daemon listens at ")
            // Without systemd it is a note.
            let (without, _) = try await doctor(directory, path: directory.path)
            #expect(findings("unit", in: without).map(\.state) == ["note"])
            #expect(findings("daemon", in: without).map(\.state) == ["note"])
        }
    }

    @Test func testThatEveryProblemHasARemedyAndTheStatusSaysWhetherThereIsOne() async throws {
        try await withTemporaryDirectory { directory in
            // given
            try directory.write("bots/bad.yml", "repository: /srv/kit.git\nbrnches: [main]\n")
            try directory.write("bots/gone.yml", "repository: \(directory.path("gone"))\n")
            let repository = try await GitRepository.make(at: directory.path("kit"))
            _ = try await repository.commit(files: ["a": "b"])
            try directory.write(
                "bots/kit.yml",
                """
                repository: \(repository.path)
                branches: [master]
                notify:
                  - { name: chat, webhook: "https://127.0.0.1:1/a-secret-path", secret: chat }
                triggers:
                  - { name: local, branches: [main], upload: /dev/null/here }

                """)
            try directory.directory().makeDirectories("secrets", mode: 0o700)
            try directory.write("secrets/open", "a token", mode: 0o644)
            try directory.write("secrets/chat", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", mode: 0o600)
            // when
            try directory.write("secrets/ops", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", mode: 0o600)
            let (diagnosis, status) = try await doctor(
                directory,
                """
                certificates: \(directory.path("nowhere.pem"))
                operator: { webhook: "https://127.0.0.1:2/a-secret-path", secret: ops }
                """)
            // then
            #expect(status == 1)
            let problems = diagnosis.findings.filter { $0.state == "problem" }
            #expect(problems.count == diagnosis.problems)
            for problem in problems { #expect(problem.remedy?.isEmpty == false, "\(problem)") }
            func expect(_ subject: String, _ text: String) {
                #expect(
                    problems.contains { $0.subject == subject && "\($0.text); \($0.remedy ?? "")".contains(text) },
                    "\(subject) \(text): \(problems)")
            }
            expect("bot file", "bad.yml:2:1: error: ")
            expect("certificates", "nowhere.pem`, which cannot be used: ")
            expect("secret", "secrets/open can be read or written by others")
            expect("repository", "gone: ")
            expect(
                "repository",
                "kit: the repository lists no branch that `branches: [master]` matches; it has main; write `branches: [main]` into kit.yml"
            )
            expect("target", "https://127.0.0.1:1 (the notice chat of the bot kit): ")
            expect("target", "https://127.0.0.1:2 (`operator` of the settings): ")
            expect("target", "/dev/null/here/ (the trigger local of the bot kit): ")
            #expect(!problems.contains { $0.text.contains("a-secret-path") })
        }
    }

    @Test func testThatTargetsThatCanBeReachedAreNamedOnce() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let there = try directory.makeDirectory("there")
            let repository = try await GitRepository.make(at: directory.path("kit"))
            _ = try await repository.commit(files: ["a": "b"])
            for bot in ["kit", "lib"] {
                try directory.write(
                    "bots/\(bot).yml",
                    "repository: \(repository.path)\ntriggers:\n  - { name: publish, branches: [main], publish: { version: { file: VERSION } } }\n"
                        + "  - { name: out, branches: [main], upload: '\(there)/{product}/{version}' }\n"
                )
            }
            // when
            let (diagnosis, _) = try await doctor(directory)
            // then
            let targets = findings("target", in: diagnosis)
            #expect(targets.map(\.state) == ["ok"])
            #expect(
                targets.map(\.text) == [
                    "\(there)/ (the trigger out of the bot kit, the trigger out of the bot lib) can be reached"
                ])
            #expect(findings("repository", in: diagnosis).map(\.state) == ["ok", "ok"])
        }
    }
}
