import Basics
import Foundation
import JobProtocol
import Model
import TestSupport
import Testing

@testable import Releases

/// A signed statement's toolchain: never more than the service itself knows.
@Suite(
    .proves(
        .releases,
        "Versions: `provenance.json` is an in-toto statement with the SLSA v1 predicate in a DSSE envelope, with digests of every input"
    ))
struct ToolchainReadingTests {
    private func toolchain(
        of job: JobDescription, for type: ProjectType?, environment: [String: String] = [:]
    ) throws -> Provenance.Toolchain? {
        try finding(of: job, for: type, environment: environment).toolchain
    }

    private func finding(
        of job: JobDescription, for type: ProjectType?, environment: [String: String] = [:]
    ) throws -> ToolchainReading.Finding {
        ToolchainReading.toolchain(
            of: job, for: type,
            configuration: Recipe.Configuration(name: try #require(Name("release")), environment: environment))
    }

    /// Returns a sandboxed job as the service makes it.
    private func sandboxed(path: String, readOnly: [String] = [], step: [String: String] = [:]) -> JobDescription {
        JobDescription(
            steps: [
                .init(
                    step: "building", name: "build", arguments: ["swift", "build"], environment: step,
                    timeoutMilliseconds: 1000)
            ], environment: ["PATH": path], workspace: "/w", mountedAt: "/martlet/kit", isolation: .sandbox,
            sandbox: .init(readOnly: readOnly))
    }

    private func withPlanted(
        _ body: (_ path: String, _ directory: String) throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            try directory.makeDirectory("tools/usr/bin")
            try directory.makeDirectory("tools/usr/lib/swift/linux/Swift.swiftmodule")
            try directory.write("tools/usr/bin/swift", "", mode: 0o755)
            try directory.write(
                "tools/usr/lib/swift/linux/Swift.swiftmodule/x86_64.swiftinterface",
                "// swift-compiler-version: Swift version 9.1 (trustworthy)\n")
            try body(directory.path("tools/usr/bin"), directory.path("tools"))
        }
    }

    /// In the sandbox its own program came first; the machine has none at that path.
    @Test func testThatAPathOfARecipeLeavesTheToolchainOutWithANote() async throws {
        try await withPlanted { path, directory in
            for places in ["/martlet/kit/bin:\(path)", path] {
                let found = try finding(
                    of: sandboxed(path: places, readOnly: [directory]), for: .swiftPackage,
                    environment: ["PATH": places])
                #expect(found.toolchain == nil)
                #expect(found.note == "the recipe sets PATH, so which swift built it is not known")
            }
        }
    }

    @Test func testThatAPathOfAStepLeavesItOutToo() async throws {
        try await withPlanted { path, directory in
            let job = sandboxed(path: path, readOnly: [directory], step: ["PATH": "/martlet/kit/bin"])
            let found = try finding(of: job, for: .swiftPackage)
            #expect(found.toolchain == nil)
            #expect(found.note == "the recipe sets PATH, so which swift built it is not known")
        }
    }

    /// A file that the sandbox does not show, such as one in a workspace, can be written by anybody.
    @Test func testThatWhatTheSandboxDoesNotShowIsNotStated() async throws {
        try await withPlanted { path, directory in
            #expect(try toolchain(of: sandboxed(path: path), for: .swiftPackage) == nil)
            symlink(path, directory + "/linked")
            let linked = sandboxed(path: directory + "/linked", readOnly: [directory + "/linked"])
            #expect(try toolchain(of: linked, for: .swiftPackage) == nil)
            let shown = try toolchain(of: sandboxed(path: path, readOnly: [directory]), for: .swiftPackage)
            #expect(shown?.version == "Swift version 9.1 (trustworthy)")
        }
    }

    @Test func testU8ThatAToolchainIsReadWithoutBeingRun() async throws {
        try await withTemporaryDirectory { directory in
            // given: programs that leave a trace when they run
            let trace = directory.path("trace")
            for place in ["tools/usr/bin/swift", "tools/usr/bin/cc", "image/usr/bin/swift"] {
                try directory.makeDirectory(String(place.dropLast(place.hasSuffix("cc") ? 3 : 6)))
                try directory.write(place, "#!/bin/sh\ntouch \(trace)\n", mode: 0o755)
            }
            for root in ["tools", "image"] {
                try directory.makeDirectory("\(root)/usr/lib/swift/linux/Swift.swiftmodule")
                try directory.write(
                    "\(root)/usr/lib/swift/linux/Swift.swiftmodule/x86_64.swiftinterface",
                    "// swift-interface-format-version: 1.0\n// swift-compiler-version: Swift version 9.1 (\(root))\n// x\n"
                )
            }
            func job(_ path: String, root: String? = nil) -> JobDescription {
                JobDescription(
                    steps: [], environment: ["PATH": path], workspace: "/w",
                    isolation: root == nil ? .none : .sandbox, sandbox: root.map { .init(root: $0) })
            }
            let tools = directory.path("tools/usr/bin")

            // when, then
            #expect(
                try toolchain(of: job("/nowhere:\(tools)"), for: .swiftPackage)
                    == .init(program: "swift", path: "\(tools)/swift", version: "Swift version 9.1 (tools)"))
            #expect(
                try toolchain(of: job("/usr/bin", root: directory.path("image")), for: .swiftPackage)
                    == .init(program: "swift", path: "/usr/bin/swift", version: "Swift version 9.1 (image)"))
            let compiler = try #require(try toolchain(of: job(tools), for: .make))
            #expect(compiler.path == "\(tools)/cc")
            #expect(compiler.sha256 == Digest.sha256(of: Array("#!/bin/sh\ntouch \(trace)\n".utf8)))
            #expect(try toolchain(of: job("/nowhere"), for: .make) == nil)
            #expect(try toolchain(of: job(tools), for: nil) == nil)
            expectNoFile(trace)
        }
    }
}
