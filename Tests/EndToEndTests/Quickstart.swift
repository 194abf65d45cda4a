import Foundation
import Glibc
import TestSupport
import Testing

/// `deploy/quickstart` with its own home and state directory, and substitutes for the machine's programs.
struct Quickstart: Sendable {
    let directory: TemporaryDirectory
    /// The clone whose `deploy/quickstart` is run.
    var project = Project.root
    var search = "/usr/bin:/bin"
    var environment: [String: String] = [:]

    init(_ directory: TemporaryDirectory) { self.directory = directory }

    var state: String { directory.path("state") }
    /// The directory of the daemon's files.
    var home: String { state + "/martlet/quickstart" }

    /// Whether `.build/debug` has the programs that are built beside these tests. Otherwise the quickstart would build for minutes.
    static var isBuiltWhereItLooks: Bool {
        guard let product = try? TestTools.builtProduct("martlet") else { return false }
        let looks = URL(fileURLWithPath: Project.root + "/.build/debug/martlet").resolvingSymlinksInPath().path
        return URL(fileURLWithPath: product).resolvingSymlinksInPath().path == looks
    }

    /// Puts a shell script before the machine's program of that name.
    mutating func standIn(_ name: String, _ script: String) throws {
        try directory.write("standins/\(name)", "#!/bin/sh\n\(script)\n", mode: 0o755)
        let place = directory.path("standins")
        if !search.hasPrefix(place) { search = place + ":" + search }
    }

    /// Puts a toolchain in PATH that prints its version. The script uses nothing else of it before it builds.
    mutating func toolchain(_ version: String) throws {
        try standIn("swift", "echo 'Swift version \(version) (test)'")
    }

    /// Makes every package installed, or none.
    mutating func packages(areInstalled: Bool) throws {
        let answer = #"shift 3; for name; do printf '%s=installed ' "$name"; done"#
        try standIn("dpkg-query", areInstalled ? answer : "exit 1")
    }

    /// Makes the user an ordinary one, not root.
    mutating func ordinaryUser() throws { try standIn("id", #"[ "$1" = -u ] && echo 1000 || echo ada"#) }

    /// Leaves only these programs of the machine in PATH, and the substitutes.
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

    /// Returns a free port of the loopback.
    static func freePort() throws -> String {
        "\(try LoopbackSocket.freePort())"
    }
}
