import Foundation
import Glibc
import TestSupport
import Testing

/// `deploy/quickstart` with a home and a state directory of its own, and programs that stand in for the machine's.
struct Quickstart: Sendable {
    let directory: TemporaryDirectory
    /// The clone whose `deploy/quickstart` is called.
    var project = Project.root
    var search = "/usr/bin:/bin"
    var environment: [String: String] = [:]

    init(_ directory: TemporaryDirectory) { self.directory = directory }

    var state: String { directory.path("state") }
    /// Where the daemon has its files.
    var home: String { state + "/martlet/quickstart" }

    /// Whether `.build/debug` has the programs that are built beside these tests; it would build for minutes otherwise.
    static var isBuiltWhereItLooks: Bool {
        guard let product = try? TestTools.builtProduct("martlet") else { return false }
        let looks = URL(fileURLWithPath: Project.root + "/.build/debug/martlet").resolvingSymlinksInPath().path
        return URL(fileURLWithPath: product).resolvingSymlinksInPath().path == looks
    }

    /// Puts a shell script before what the machine has of that name.
    mutating func standIn(_ name: String, _ script: String) throws {
        try directory.write("standins/\(name)", "#!/bin/sh\n\(script)\n", mode: 0o755)
        let place = directory.path("standins")
        if !search.hasPrefix(place) { search = place + ":" + search }
    }

    /// A toolchain that says its version; the script asks nothing else of it before it builds.
    mutating func toolchain(_ version: String) throws {
        try standIn("swift", "echo 'Swift version \(version) (test)'")
    }

    /// Every package is installed, or none.
    mutating func packages(areInstalled: Bool) throws {
        let answer = #"shift 3; for name; do printf '%s=installed ' "$name"; done"#
        try standIn("dpkg-query", areInstalled ? answer : "exit 1")
    }

    /// A user who is not root.
    mutating func ordinaryUser() throws { try standIn("id", #"[ "$1" = -u ] && echo 1000 || echo ada"#) }

    /// Nothing but these programs of the machine is in PATH, apart from what stands in.
    mutating func only(_ programs: [String]) throws {
        try directory.makeDirectory("machine")
        for program in programs {
            try FileManager.default.createSymbolicLink(
                atPath: directory.path("machine/\(program)"),
                withDestinationPath: try #require(TestTools.find(program), "\(program) is not on this machine"))
        }
        search = search.replacing("/usr/bin:/bin", with: directory.path("machine"))
    }

    func callAsFunction(_ arguments: String...) async throws -> ProgramResult { try await callAsFunction(arguments) }

    func callAsFunction(_ arguments: [String]) async throws -> ProgramResult {
        try await run(
            ["/bin/bash", project + "/deploy/quickstart"] + arguments, in: directory.path,
            environment: ["PATH": search, "HOME": directory.path, "XDG_STATE_HOME": state].merging(environment) { $1 })
    }

    /// A port of loopback that nobody listens on.
    static func freePort() throws -> String {
        "\(try LoopbackSocket.freePort())"
    }
}
