// swift-tools-version: 6.2
import PackageDescription

/// Every target of ours is built in Swift 6 mode with the upcoming features that make imports and isolation explicit,
/// and with warnings as errors. Which target may import which is the table in docs/internals/architecture.md, held by
/// Tests/ArchitectureTests.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

extension Target.Dependency {
    static let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
    static let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
    static let customDump = Target.Dependency.product(name: "CustomDump", package: "swift-custom-dump")
    static let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
    /// SQLite's C interface, of which GRDB is made: for what GRDB has no name for.
    static let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
    static let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
    static let metrics = Target.Dependency.product(name: "Metrics", package: "swift-metrics")
    static let jwtKit = Target.Dependency.product(name: "JWTKit", package: "jwt-kit")
    static let mustache = Target.Dependency.product(name: "Mustache", package: "swift-mustache")
    static let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
    static let nioEmbedded = Target.Dependency.product(name: "NIOEmbedded", package: "swift-nio")
    static let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
    static let nioHTTPTypes = Target.Dependency.product(name: "NIOHTTPTypes", package: "swift-nio-extras")
    static let nioHTTPTypesHTTP1 = Target.Dependency.product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras")
    static let serviceLifecycle = Target.Dependency.product(
        name: "ServiceLifecycle", package: "swift-service-lifecycle")
    static let subprocess = Target.Dependency.product(name: "Subprocess", package: "swift-subprocess")
    static let yams = Target.Dependency.product(name: "Yams", package: "Yams")
}

func library(_ name: String, _ dependencies: [Target.Dependency] = [], resources: [Resource]? = nil) -> Target {
    .target(name: name, dependencies: dependencies, resources: resources, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    .testTarget(
        name: name, dependencies: dependencies + ["TestSupport"], exclude: exclude, swiftSettings: strict)
}

/// Programs that measure, fuzz or kill. No gate runs them, so they are built only with `MARTLET_PROGRAMS=1` in the environment.
let programs: [Target] =
    Context.environment["MARTLET_PROGRAMS"] == nil
    ? []
    : [
        .executableTarget(
            name: "PerformanceTests", dependencies: ["ServiceSupport"], path: "Tests/PerformanceTests",
            swiftSettings: strict),
        // What git costs, beside the git command.
        .executableTarget(
            name: "GitFigures", dependencies: ["Model", "Basics", "SourceControl", "TestSupport"],
            path: "Tests/GitFigures", swiftSettings: strict),
        // What tests through time cost the database.
        .executableTarget(
            name: "StorageFigures", dependencies: ["Model", "Storage", "TestSupport", .grdb],
            path: "Tests/StorageFigures",
            swiftSettings: strict),
        .executableTarget(
            name: "FuzzReports", dependencies: ["Model", "Reports", "TestSupport"],
            path: "Tests/FuzzReports",
            swiftSettings: strict),
        // The fake forge over HTTP, for Tests/Acceptance/intake-statuses.
        .executableTarget(
            name: "ForgeServer", dependencies: ["Transfer", "TestSupport"], path: "Tests/ForgeServer",
            swiftSettings: strict),
        .executableTarget(
            name: "KillSweep", dependencies: ["ServiceSupport"], path: "Tests/KillSweep", swiftSettings: strict),
    ]

let package = Package(
    name: "martlet",
    products: [
        .executable(name: "martlet", targets: ["martlet"]),
        .executable(name: "martlet-supervisor", targets: ["martlet-supervisor"]),
        .executable(name: "martlet-tools", targets: ["martlet-tools"]),
        .executable(name: "martlet-reader", targets: ["martlet-reader"]),
    ],
    // Pinned, so that a build of today is the build of tomorrow; `deploy/packages --outdated` lists what is newer.
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
        .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", exact: "1.0.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", exact: "2.13.0"),
        // 2.100.0 is the first without CVE-2026-28970 and CVE-2026-28980.
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", exact: "1.35.2"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1"),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", exact: "2.1.1"),
        .package(url: "https://github.com/vapor/jwt-kit", exact: "5.7.1"),
        .package(url: "https://github.com/pointfreeco/swift-custom-dump", exact: "1.7.3"),
    ],
    targets: [
        // C
        .systemLibrary(name: "CLibGit2", pkgConfig: "libgit2", providers: [.apt(["libgit2-dev"])]),
        .systemLibrary(name: "CLibCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CLibArchive", pkgConfig: "libarchive", providers: [.apt(["libarchive-dev"])]),
        .systemLibrary(name: "CExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
        .target(name: "CLinux"),
        // The pages of docs/, which the service serves. C has #embed; a page as an array of Swift takes minutes to compile.
        .target(name: "CManual"),

        // The nouns
        library("Model"),
        library("Encodings"),
        library("Basics", ["Encodings", "CLinux", .crypto]),
        library("JobProtocol", ["Encodings"]),
        library("API"),
        library("Redaction", ["Encodings"]),
        library("Processes", ["CLinux"]),

        // Adapters: none imports another
        library("Settings", ["Model", .yams]),
        library(
            "Storage", ["Model", "Basics", "CZstd", .grdb], resources: [.embedInCode("Schema/schema.sql")]),
        library("SourceControl", ["Model", "Basics", "CLibGit2", "CLibCurl", "CLinux"]),
        library("Execution", ["Model", "Basics", "JobProtocol", "CZstd", "CLinux", .subprocess]),
        library("Reports", ["Model", "Encodings", "CExpat"]),
        library("Archives", ["Model", "Encodings", "Basics", "JobProtocol", "CLibArchive"]),
        library("Transfer", ["Encodings", "Basics", "CLibCurl", .crypto]),
        library("SignIn", ["Model", "Encodings", "Basics", "Settings", "Transfer", .crypto, .jwtKit]),

        // The bot, its face, its programs
        library(
            "Releases",
            [
                "Model", "Encodings", "Basics", "JobProtocol", "Settings", "Storage", "SourceControl", "Execution",
                "Reports", "Archives", "Transfer", .logging, .crypto,
            ]),
        library("Issues", ["Model", "Basics", "Storage", "SourceControl", .logging]),
        library(
            "Forges", ["Model", "Encodings", "Basics", "Settings", "Storage", "Transfer", "Notifications"]),
        library(
            "Notifications",
            ["Model", "Encodings", "Basics", "JobProtocol", "Settings", "Storage", "Transfer", .logging]),
        library(
            "Jobs",
            [
                "Model", "Basics", "JobProtocol", "Redaction", "Settings", "Storage", "SourceControl", "Execution",
                "Reports", "Archives", "Issues", .logging,
            ]),
        library(
            "Integrations",
            [
                "Model", "Encodings", "Basics", "JobProtocol", "Settings", "Storage", "SourceControl", "Execution",
                "Reports", "Archives", "Transfer", "Issues", "Forges", "Notifications", "Releases", "Jobs",
                .serviceLifecycle, .logging, .metrics,
            ]),
        library(
            "Web",
            [
                "Model", "Encodings", "Basics", "JobProtocol", "API", "Settings", "Storage", "Execution", "Transfer",
                "Forges", "Releases", "Jobs", "Integrations", "SignIn", "CZlib", "CManual", .hummingbird, .mustache,
                .nioCore, .nioHTTP1, .nioHTTPTypes, .nioHTTPTypesHTTP1, .logging, .serviceLifecycle, .crypto,
            ],
            resources: [.embedInCode("Resources")]),
        .executableTarget(
            name: "martlet",
            dependencies: [
                "Model", "Encodings", "Basics", "JobProtocol", "API", "Settings", "Storage", "SourceControl",
                "Execution", "Archives", "Transfer", "Forges", "Notifications", "Releases", "Jobs", "Integrations",
                "SignIn", "Web", "CLinux", .argumentParser, .logging, .serviceLifecycle,
            ],
            swiftSettings: strict,
            // Fewer pages of the program are read at the start: relocations take 32 KB in place of 3.5 MB (glibc 2.36), and no library
            // looks for the symbols that a static standard library would have exported, 4 MB of names.
            linkerSettings: [
                .unsafeFlags(
                    [
                        "-use-ld=lld", "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs", "-Xlinker",
                        "--no-export-dynamic",
                    ], .when(configuration: .release))
            ]),
        // Wholly static: a sandbox needs neither a Swift runtime nor the C library for it, whatever its root is, and it
        // starts in less than 1 ms. With lld, since gold warns of what the standard library would load and never does.
        .executableTarget(
            name: "martlet-supervisor",
            dependencies: ["JobProtocol", "Redaction", "Processes", "CLinux"],
            swiftSettings: strict,
            linkerSettings: [.unsafeFlags(["-static-executable", "-use-ld=lld", "-Xlinker", "-s"])]),
        // Likewise: a job runs it below any root, such as an image without our libraries.
        .executableTarget(
            name: "martlet-tools",
            dependencies: ["JobProtocol", "Processes", "CLinux"],
            swiftSettings: strict,
            linkerSettings: [.unsafeFlags(["-static-executable", "-use-ld=lld", "-Xlinker", "-s"])]),
        // Likewise: it is started for each attempt, and opens no file after that, not even a library.
        .executableTarget(
            name: "martlet-reader",
            dependencies: ["Reports", "CLinux"],
            swiftSettings: strict,
            linkerSettings: [
                .unsafeFlags(["-static-executable", "-use-ld=lld", "-Xlinker", "-s"]), .linkedLibrary("m"),
            ]),

        // Tests
        .target(
            name: "TestSupport",
            dependencies: [
                "Model", "Encodings", "Basics", "Transfer", "CLinux", .crypto, .logging, .customDump, .subprocess,
            ],
            path: "Tests/TestSupport", swiftSettings: strict),
        .target(
            name: "ArchiveSupport", dependencies: ["Model", "Basics", "Archives", "Releases", "TestSupport"],
            path: "Tests/ArchiveSupport",
            swiftSettings: strict),
        .target(
            name: "ExecutionSupport", dependencies: ["Basics", "JobProtocol", "Execution"],
            path: "Tests/ExecutionSupport", swiftSettings: strict),
        // The service as `martlet serve` connects it. An executable's code is linked only into tests that name it, so each test that uses this does.
        .target(
            name: "BotSupport",
            dependencies: [
                "Model", "Encodings", "Basics", "JobProtocol", "Settings", "Storage", "SourceControl", "Execution",
                "Archives", "Transfer", "Forges", "Releases", "Jobs", "Integrations", "TestSupport", "ExecutionSupport",
                "martlet", .logging,
            ],
            path: "Tests/BotSupport", swiftSettings: strict),
        // Real daemons from outside, without Swift's concurrency; and the programs that measure and kill them.
        .target(
            name: "ServiceSupport", dependencies: ["Basics", "JobProtocol", .crypto, .grdb],
            path: "Tests/ServiceSupport", swiftSettings: strict),
        tests("TestSupportTests", ["Model", "Basics", "Transfer", .logging]),
        tests("ArchitectureTests", ["Basics"]),
        tests("ModelTests", ["Model"]),
        tests("EncodingsTests", ["Encodings"]),
        tests("BasicsTests", ["Model", "Encodings", "Basics", "CLinux"]),
        tests("JobProtocolTests", ["JobProtocol"]),
        tests("RedactionTests", ["Redaction"]),
        tests("SettingsTests", ["Model", "Settings"]),
        tests("StorageTests", ["Model", "Storage", .grdb], exclude: ["Versions"]),
        tests("SourceControlTests", ["Model", "Encodings", "Basics", "SourceControl", "CLibGit2"]),
        // Not dependent on martlet-supervisor, whose static linking would spread to the tests: it is run from beside them.
        tests(
            "ExecutionTests",
            ["Model", "Basics", "JobProtocol", "Execution", "CLinux", "ExecutionSupport"],
            exclude: ["Threats/probes.c"]),
        tests("ReportsTests", ["Model", "Basics", "Reports", "Issues"], exclude: ["Samples"]),
        tests("IssuesTests", ["Model", "Storage", "SourceControl", "Reports", "Issues"]),
        tests("ArchivesTests", ["Model", "Basics", "Archives"]),
        tests(
            "ReleasesTests",
            [
                "Model", "Encodings", "Basics", "JobProtocol", "Settings", "Archives", "Transfer", "Releases",
                "ArchiveSupport", .crypto,
            ]),
        tests(
            "JobsTests",
            ["Model", "Basics", "JobProtocol", "Storage", "Execution", "Reports", "Jobs", "martlet", "BotSupport"]),
        tests(
            "SignInTests", ["Model", "Basics", "Settings", "SignIn", .crypto, .jwtKit]),
        tests("TransferTests", ["Encodings", "Basics", "Transfer", .crypto]),
        tests(
            "IntegrationsTests",
            [
                "Model", "Encodings", "Basics", "JobProtocol", "Redaction", "Settings", "Storage", "SourceControl",
                "Execution", "Reports", "Archives", "Transfer", "Forges", "Notifications", "Releases", "Jobs",
                "Integrations", "ArchiveSupport", "ExecutionSupport", "BotSupport", "martlet", .logging,
            ]),
        tests(
            "EndToEndTests",
            [
                "Model", "Encodings", "Basics", "JobProtocol", "Settings", "Storage", "SourceControl", "Execution",
                "Archives", "Jobs", "Integrations", "martlet", "ExecutionSupport", "BotSupport", "ServiceSupport",
            ], exclude: ["Scenarios"]),
        tests(
            "WebTests",
            [
                "Model", "Encodings", "Basics", "JobProtocol", "API", "Settings", "Storage", "SourceControl",
                "Execution", "Archives", "Transfer", "Forges", "Notifications", "Releases", "Jobs", "Integrations",
                "SignIn", "Web", "martlet", .grdb, .hummingbird, .logging, .mustache, .nioCore, .nioEmbedded, .nioHTTP1,
                .nioHTTPTypes, .serviceLifecycle,
            ]),
    ] + programs
)
