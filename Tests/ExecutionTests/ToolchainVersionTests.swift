import Basics
import TestSupport
import Testing

@testable import Execution

@Suite struct ToolchainVersionTests {
    @Test(
        .proves(
            .intake,
            "Another version of the machine's `swift` integrates each watched branch's tip again, once, except for the first version; all views show both versions"
        ),
        arguments: [
            ("Swift version 6.3.1 (swift-6.3.1-RELEASE)\nTarget: x86_64-unknown-linux-gnu\n", "6.3.1"),
            ("swift-driver version: 1.127 Apple Swift version 6.0 (swiftlang-6.0.0.9.10)\n", "6.0"),
            ("Swift version 6.4-dev (LLVM 1a, Swift 2b)\n", "6.4-dev (LLVM 1a, Swift 2b)"),
            ("", nil), ("command not found\n", nil), ("Swift version \n", nil), ("Swift version x\n", nil),
        ] as [(String, String?)])
    func testThatItIsWhatTheToolchainSays(output: String, version: String?) {
        #expect(ToolchainVersion.version(in: output) == version)
    }

    @Test func testThatItIsBounded() {
        #expect(ToolchainVersion.version(in: "Swift version 6-" + String(repeating: "x", count: 500))?.count == 100)
    }

    @Test(
        .proves(
            .intake,
            "Another version of the machine's `swift` integrates each watched branch's tip again, once, except for the first version; all views show both versions"
        ), .program("swift"))
    func testThatTheMachinesToolchainIsAsked() async throws {
        try await withTemporaryDirectory { directory in
            let version = try #require(await ToolchainVersion.swift(within: directory.path))
            #expect(version.first?.isNumber == true)
        }
    }

    @Test(
        .proves(
            .intake,
            "Another version of the machine's `swift` integrates each watched branch's tip again, once, except for the first version; all views show both versions"
        ), .program("swift"))
    func testThatWhatItLeavesIsRemoved() async throws {
        try await withTemporaryDirectory { directory in
            // given: the files of a daemon that was killed
            try directory.write(".martlet-toolchain/TemporaryDirectory.1/file", "1")

            // when
            _ = await ToolchainVersion.swift(within: directory.path)

            // then
            #expect(try directory.directory().entries().map(\.name) == [])
        }
    }

    @Test(.program("swift")) func testThatWhereNothingCanBeWrittenItIsNotAsked() async {
        #expect(await ToolchainVersion.swift(within: "/proc/nowhere") == nil)
    }
}
