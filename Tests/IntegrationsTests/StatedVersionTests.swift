import Model
import Storage
import TestSupport
import Testing

@testable import Integrations
@testable import Releases

@Suite struct StatedVersionTests {
    @Test(arguments: [
        ("1.4.0\n", "1.4.0"), ("v1.4.0", "1.4.0"), ("\u{FEFF}1.4.0\r\n", "1.4.0"),
        ("  1.4.0-rc.1+b \r\n\n", "1.4.0-rc.1+b"),
        ("99999999999999999999999.0.0", "99999999999999999999999.0.0"),
    ])
    func testThatOneLineIsRead(text: String, version: String) throws {
        #expect(try StatedVersion.read(Array(text.utf8), from: "VERSION").description == version)
    }

    @Test(
        .proves(
            .releases,
            "Versions: `version: { file: VERSION }` and `version: { command: … }`, the latter sandboxed like a job"),
        arguments: ["", "\n", "1.4", "1.4.0\n1.4.1", "1.4.0 # next", "version 1.4.0", "\u{1B}[31m1.4.0"])
    func testThatAnythingElseIsSaid(text: String) {
        let error = #expect(throws: TriggerError.self) {
            try StatedVersion.read(Array(text.utf8), from: "VERSION")
        }
        expectContains(error?.description ?? "", "which is not a version; write one line such as 1.4.0")
        #expect(error?.description.contains("\u{1B}") == false)
    }

    @Test func testThatTooMuchIsNotRead() {
        let error = #expect(throws: TriggerError.self) {
            try StatedVersion.read(Array(repeating: 0x20, count: 4097), from: "VERSION")
        }
        expectContains(error?.description ?? "", "VERSION says more than 4096 bytes")
    }

    @Suite struct GivenAFile {
        private let source = Trigger.VersionSource.file("meta/VERSION")

        @Test(
            .proves(
                .releases,
                "Versions: `version: { file: VERSION }` and `version: { command: … }`, the latter sandboxed like a job")
        )
        func testThatItsVersionIsPublishedOnAnyBranch() async throws {
            try await withPublisher { fixture in
                // given
                try await fixture.work.branch("main")
                let main = RefName(branch: "main")

                // when
                let first = try await fixture.work.commit(files: ["meta/VERSION": "1.4.0\n"])
                #expect(
                    try await fixture.publish(first, ref: main, source: source) == .published(SemanticVersion(1, 4, 0)))
                let next = try await fixture.work.commit(files: ["other": "x"])

                // then: a rerun, a commit that still states it, and one that raises it
                #expect(
                    try await fixture.publish(first, ref: main, source: source) == .already(SemanticVersion(1, 4, 0)))
                #expect(
                    try await fixture.publish(next, ref: main, source: source)
                        == .unchanged(SemanticVersion(1, 4, 0), since: first))
                let raised = try await fixture.work.commit(files: ["meta/VERSION": "1.5.0"])
                #expect(
                    try await fixture.publish(raised, ref: main, source: source) == .published(SemanticVersion(1, 5, 0))
                )
                try await fixture.expectVersions(["1.4.0", "1.5.0"])
            }
        }

        @Test(
            .proves(
                .releases,
                "Versions: `version: { file: VERSION }` and `version: { command: … }`, the latter sandboxed like a job")
        )
        func testU6ThatTheSameVersionOfAnotherHistoryIsRefused() async throws {
            try await withPublisher { fixture in
                // given: two branches that both state 1.4.0
                try await fixture.work.branch("main")
                let base = try await fixture.work.commit(files: ["a": "a"])
                let first = try await fixture.work.commit(files: ["meta/VERSION": "1.4.0"])
                try await fixture.publish(first, ref: RefName(branch: "main"), source: source, content: "first")
                try await fixture.work.branch("other", at: base.description)
                let second = try await fixture.work.commit(files: ["meta/VERSION": "1.4.0", "b": "b"])
                let request = try await fixture.request(
                    second, ref: RefName(branch: "other"), source: source, content: "second")

                // when
                let error = await #expect(throws: TriggerError.self) { try await fixture.publisher.publish(request) }

                // then
                expectContains(error?.description ?? "", "never changes; give this commit another version")
                try await fixture.expectVersions(["1.4.0"])
            }
        }

        @Test func testThatAFileThatIsNotThereIsSaid() async throws {
            try await withPublisher { fixture in
                let request = try await fixture.request(
                    fixture.commit("a"), ref: RefName(branch: "main"), source: source)
                let error = await #expect(throws: TriggerError.self) { try await fixture.publisher.publish(request) }
                expectContains(error?.description ?? "", "meta/VERSION is not a file of")
                let large = try await fixture.work.commit(files: ["meta/VERSION": String(repeating: " ", count: 5000)])
                let second = try await fixture.request(large, ref: RefName(branch: "main"), source: source)
                let other = await #expect(throws: TriggerError.self) { try await fixture.publisher.publish(second) }
                expectContains(other?.description ?? "", "meta/VERSION says more than 4096 bytes")
                try await fixture.expectVersions([])
            }
        }
    }
}
