import Model
import Storage
import TestSupport
import Testing

@testable import Web

/// Arguments that some parsers replace by a file's contents.
@Suite struct A11LiteralArgumentTests {
    /// - Parameter file: A file that contains `canary`.
    private static func forms(_ file: String) -> [String] {
        [
            "@\(file)", "@@\(file)", "<\(file)", "file://\(file)", "$(cat \(file))", "`cat \(file)`", "${file:\(file)}",
            "=\(file)",
        ]
    }

    private static func withCanary(_ body: @Sendable (WebFixture, String) async throws -> Void) async throws {
        try await withWeb { web in
            try await SampleContent(web: web).fill()
            try await body(web, try web.directory.write("canary.txt", "canary"))
        }
    }

    @Test func testA11ThatAReasonIsStoredAsItIsWritten() async throws {
        try await Self.withCanary { web, file in
            let id = IntegrationID(bot: SampleContent.kit, number: 2)
            for form in Self.forms(file) {
                // when
                let answer = try await martlet(["silence", "kit#2", "000000", "--reason", form], web)
                // then
                #expect(answer.status == 0, "\(form): \(answer.stderr)")
                let silence = try await web.store.silences(for: id)[String(repeating: "0", count: 64)]
                #expect(silence?.reason == form)
            }
        }
    }

    @Test func testA11ThatNoCommandReadsAFileForAnArgument() async throws {
        try await Self.withCanary { web, file in
            for form in Self.forms(file).prefix(5) {
                for arguments in [
                    ["show", form], ["integrate", form], ["integrate", "kit", "--ref", form], ["log", form],
                    ["issues", form],
                    ["tests", "kit", "--query", form], ["test", "kit", form], ["artifacts", form], ["cancel", form],
                    ["token", "create", form, "--role", "viewer"], ["versions", form], ["integrations", form],
                    ["bot", form],
                    ["integrations", "--bot", form], [form],
                ] {
                    let answer = try await martlet(arguments, web)
                    #expect(
                        answer.status != 0 || answer.stdout.isEmpty || arguments.first == "tests",
                        "\(arguments): \(answer.stdout)")
                    #expect(!answer.stdout.contains("canary\n") && !answer.stderr.contains("canary\n"), "\(arguments)")
                    #expect(
                        !(answer.stdout + answer.stderr).replacing("canary.txt", with: "").contains("canary"),
                        "\(arguments)")
                }
            }
            #expect(try await web.store.tokens().count == Role.allCases.count)
        }
    }

    @Test func testA11ThatTheInterfaceTakesTextAsText() async throws {
        try await Self.withCanary { web, file in
            for form in Self.forms(file) {
                for (path, members) in [
                    ("/api/v1/tokens", ["name": form, "role": "viewer"]),
                    ("/api/v1/bots/kit/integrations", ["commit": form]),
                ] {
                    let body = JSONValue.object(members.map { .init(key: $0.key, value: .string($0.value)) })
                    let answer = try await web.send(
                        "POST", path, as: .admin, headers: [("Content-Type", "application/json")],
                        body: Array(body.text.utf8))
                    #expect((400..<500).contains(answer.status), "\(path) \(form): \(answer.status)")
                    #expect(!answer.text.replacing("canary.txt", with: "").contains("canary"))
                }
            }
        }
    }
}
