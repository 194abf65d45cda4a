import Foundation
import TestSupport
import Testing

/// `martlet-tools --analyze-c` with the real toolchain.
@Suite(.timeLimit(TestLimits.minutes(5)), .program("clang")) struct CAnalyzerTests {
    /// Returns a file with a null pointer, which is reported if the file compiles.
    private static func faulty(_ name: String, needing lines: String = "") -> String {
        "\(lines)\nint \(name)(void) { int *nothing = 0; return *nothing; }\n"
    }

    private func analyze(
        _ directory: TemporaryDirectory, manifest: String, files: [String: String]
    ) async throws -> (result: ProgramResult, reports: String) {
        try directory.write("kit/Package.swift", "// swift-tools-version: 5.9\nimport PackageDescription\n" + manifest)
        for (path, text) in files {
            try directory.write(path.hasPrefix("../") ? String(path.dropFirst(3)) : "kit/" + path, text)
        }
        try directory.write("kit/out/9.sarif", "of last time")
        let result = try await run(
            [
                try TestTools.builtProduct("martlet-tools"), "--analyze-c", "out", "--configuration", "debug",
            ], in: directory.path("kit"))
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.path("kit/out")).sorted()
        let reports = try names.filter { $0.hasSuffix(".sarif") }.map { try directory.text("kit/out/" + $0) }
        return (result, reports.joined())
    }

    @Test(
        .proves(
            .steps,
            "`clang --analyze` with SARIF for C targets, wherever they lie, with the options that their manifest gives them"
        ))
    func testThatEveryCTargetIsAnalyzedWhereverItLiesWithItsSettings() async throws {
        try await withTemporaryDirectory { directory in
            // given: files that compile only with the manifest's paths, definitions and other headers
            let (result, reports) = try await analyze(
                directory,
                manifest: """
                    let package = Package(
                        name: "kit",
                        dependencies: [.package(path: "../other")],
                        targets: [
                            .target(
                                name: "Native", dependencies: ["CUsual", .product(name: "Other", package: "other")],
                                path: "native", exclude: ["left"], publicHeadersPath: "public",
                                cSettings: [
                                    .headerSearchPath("private"), .define("LEVEL", to: "3"),
                                    .define("WRONG", .when(platforms: [.windows])),
                                    .define("WRONG", .when(configuration: .release)),
                                ],
                                cxxSettings: [.define("CXX")]),
                            .target(name: "CUsual"),
                            .testTarget(name: "CTests", path: "checks"),
                        ],
                        cxxLanguageStandard: .cxx17)
                    """,
                files: [
                    "native/n.c": Self.faulty(
                        "native",
                        needing: """
                            #include "native.h"
                            #include "inner.h"
                            #include "usual.h"
                            #include "other.h"
                            #if LEVEL != 3 || defined(WRONG) || defined(CXX) || !SWIFT_PACKAGE || !DEBUG
                            #error
                            #endif
                            """),
                    "native/n.cpp": Self.faulty(
                        "plus",
                        needing: "#if !defined(CXX) || defined(LEVEL) || __cplusplus != 201703L\n#error\n#endif\n"),
                    "native/public/native.h": "", "native/private/inner.h": "", "native/left/no.c": "#error\n",
                    "Sources/CUsual/usual.c": Self.faulty("usual", needing: "#include \"usual.h\""),
                    "Sources/CUsual/include/usual.h": "", "checks/c.c": "#error\n", "elsewhere/e.c": "#error\n",
                    "../other/Package.swift": """
                    // swift-tools-version: 5.9
                    import PackageDescription
                    let package = Package(
                        name: "other", products: [.library(name: "Other", targets: ["Other"])], targets: [.target(name: "Other")])
                    """,
                    "../other/Sources/Other/other.c": "int other(void) { return 1; }\n",
                    "../other/Sources/Other/include/other.h": "",
                ])

            // then: three sources, one finding each
            #expect(result.status == 0, "\(result.stdout)\(result.stderr)")
            let shown = result.stdout.split(separator: "\n").filter { $0.hasPrefix("clang --analyze ") }
            #expect(
                shown == [
                    "clang --analyze Sources/CUsual/usual.c", "clang --analyze native/n.c",
                    "clang --analyze native/n.cpp",
                ])
            #expect(reports.components(separatedBy: "core.NullDereference").count > 3)
            for path in ["native/n.c", "native/n.cpp", "Sources/CUsual/usual.c"] { expectContains(reports, path) }
            #expect(!reports.contains("of last time"))
        }
    }

    @Test func testThatAPackageWithoutCTargetsHasNothingToAnalyze() async throws {
        try await withTemporaryDirectory { directory in
            let (result, reports) = try await analyze(
                directory, manifest: "let package = Package(name: \"kit\", targets: [.target(name: \"Kit\")])",
                files: ["Sources/Kit/Kit.swift": "", "examples/e.c": "int main(void) { return 0; }\n"])
            #expect(result.status == 0)
            #expect(result.stdout == "no C targets: nothing to analyze\n")
            #expect(reports.isEmpty)
        }
    }

    @Test(
        .proves(
            .steps,
            "`clang --analyze` with SARIF for C targets, wherever they lie, with the options that their manifest gives them"
        ))
    func testThatAPackageThatCannotBeDescribedHasItsUsualSourcesAnalyzed() async throws {
        try await withTemporaryDirectory { directory in
            let (result, reports) = try await analyze(
                directory, manifest: "let package = Packag(name: \"kit\")",
                files: [
                    "Sources/CKit/k.c": Self.faulty("k", needing: "#include \"k.h\""), "Sources/CKit/include/k.h": "",
                ])
            #expect(result.status == 0, "\(result.stderr)")
            expectContains(result.stderr, "the package cannot be described")
            expectContains(reports, "core.NullDereference")
        }
    }

    @Test(
        .proves(
            .steps,
            "`clang --analyze` with SARIF for C targets, wherever they lie, with the options that their manifest gives them"
        ))
    func testThatASourceThatDoesNotCompileFailsAndTheOthersAreAnalyzed() async throws {
        try await withTemporaryDirectory { directory in
            let (result, reports) = try await analyze(
                directory, manifest: "let package = Package(name: \"kit\", targets: [.target(name: \"CKit\")])",
                files: [
                    "Sources/CKit/a.c": "int a(\n", "Sources/CKit/b.c": Self.faulty("b"),
                    "Sources/CKit/include/k.h": "",
                ])
            #expect(result.status == 1)
            expectContains(result.stderr, "Sources/CKit/a.c: clang exited with 1")
            expectContains(reports, "core.NullDereference")
        }
    }
}
