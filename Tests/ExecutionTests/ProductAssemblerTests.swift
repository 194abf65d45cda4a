import Basics
import TestSupport
import Testing

/// `martlet-tools --archive-products` with the real toolchain.
@Suite(.timeLimit(TestLimits.minutes(10))) struct ProductAssemblerTests {
    private func archive(_ directory: TemporaryDirectory) async throws -> (status: Int32, output: String) {
        let result = try await run(
            [
                try TestTools.builtProduct("martlet-tools"), "--archive-products", directory.path("out"),
                "--scratch-path", directory.path("scratch"), "--configuration", "debug",
            ], in: directory.path("kit"))
        return (result.status, result.stdout + result.stderr)
    }

    @Test(
        .proves(
            .steps,
            "Archive of a Swift package: source archive, executables, each library product as a static library with modules and headers"
        ))
    func testThatAConsumerCanLinkTheLibraryWithoutItsSources() async throws {
        try await withTemporaryDirectory { directory in
            // given
            try directory.write(
                "kit/Package.swift",
                """
                // swift-tools-version: 6.0
                import PackageDescription
                let package = Package(
                    name: "kit",
                    products: [
                        .library(name: "Kit", targets: ["Kit"]), .executable(name: "kit-cli", targets: ["kit-cli"]),
                    ],
                    dependencies: [.package(path: "../other")],
                    targets: [
                        .target(name: "CKit"),
                        .target(
                            name: "Kit", dependencies: ["CKit", .product(name: "Other", package: "other")],
                            resources: [.copy("Text")]),
                        .executableTarget(name: "kit-cli", dependencies: ["Kit"]),
                    ])
                """)
            try directory.write("kit/Sources/CKit/include/ckit.h", "int two(void);\n")
            try directory.write("kit/Sources/CKit/ckit.c", "#include \"ckit.h\"\nint two(void) { return 2; }\n")
            try directory.write("kit/Sources/Kit/Text/a.txt", "text")
            try directory.write(
                "kit/Sources/Kit/Kit.swift",
                "import CKit\nimport Other\npublic func answer() -> Int { Int(two()) + forty() }\n")
            try directory.write("kit/Sources/kit-cli/main.swift", "import Kit\nprint(answer())\n")
            try directory.write(
                "other/Package.swift",
                """
                // swift-tools-version: 6.0
                import PackageDescription
                let package = Package(
                    name: "other", products: [.library(name: "Other", targets: ["Other"])],
                    targets: [.target(name: "Other")])
                """)
            try directory.write("other/Sources/Other/Kit.swift", "public func forty() -> Int { 40 }\n")
            try directory.write("out/products/lib/stale", "of last time")
            // when
            let archived = try await archive(directory)
            // then
            #expect(archived.status == 0, "\(archived.output)")
            for name in ["kit", "other", "scratch"] { try directory.directory().remove(name) }
            try directory.write("consumer/main.swift", "import Kit\nprint(answer())\n")
            let products = directory.path("out/products")
            let built = try await run(
                ["swiftc", "-I", products + "/modules", "-L", products + "/lib", "-lKit", "main.swift", "-o", "c"],
                in: directory.path("consumer"))
            #expect(built.status == 0, "\(built.stderr)")
            #expect(try await run([directory.path("consumer/c")], in: "/").stdout == "42\n")
            #expect(try await run([products + "/bin/kit-cli"], in: "/").stdout == "42\n")
            let found = try directory.directory().directory("out/products")
            #expect(try found.status("include/CKit/ckit.h") != nil)
            #expect(try found.status("bin/kit_Kit.resources/Text/a.txt") != nil)
            #expect(try found.status("lib/stale") == nil)
        }
    }

    @Test func testThatAPackageOfPluginsOnlyHasNothingToArchive() async throws {
        try await withTemporaryDirectory { directory in
            try directory.write(
                "kit/Package.swift",
                """
                // swift-tools-version: 6.0
                import PackageDescription
                let package = Package(
                    name: "kit", products: [.plugin(name: "P", targets: ["P"])],
                    targets: [.plugin(name: "P", capability: .buildTool())])
                """)
            try directory.write(
                "kit/Plugins/P/P.swift",
                """
                import PackagePlugin
                @main struct P: BuildToolPlugin {
                    func createBuildCommands(context: PluginContext, target: Target) -> [Command] { [] }
                }
                """)
            let archived = try await archive(directory)
            #expect(archived.status == 0, "\(archived.output)")
            #expect(archived.output.contains("neither executables nor libraries"))
        }
    }

    @Test func testThatAPackageThatDoesNotCompileIsAFailure() async throws {
        try await withTemporaryDirectory { directory in
            try directory.write(
                "kit/Package.swift",
                """
                // swift-tools-version: 6.0
                import PackageDescription
                let package = Package(name: "kit", targets: [.executableTarget(name: "kit")])
                """)
            try directory.write("kit/Sources/kit/main.swift", "nonsense\n")
            #expect(try await archive(directory).status != 0)
        }
    }
}
