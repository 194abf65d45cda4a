import Foundation
import Model
import TestSupport

/// Runs a usual command's script as a job does: in the repository's root, beside a directory `.martlet/test`.
struct UsualScript {
    let directory: TemporaryDirectory
    /// The directory of programs that precede those of PATH.
    private var bin: String { directory.path("bin") }

    init(_ files: [String: String], in directory: TemporaryDirectory) throws {
        self.directory = directory
        try directory.makeDirectory("tree/.martlet/test")
        try directory.makeDirectory("bin")
        for (path, text) in files { try directory.write("tree/\(path)", text) }
    }

    /// Adds a program that precedes all others in PATH.
    func addProgram(_ name: String, _ script: String) throws {
        try directory.write("bin/\(name)", "#!/bin/sh\n\(script)\n", mode: 0o755)
    }

    /// Returns the text of a file in the tree; `nil` if it does not exist.
    func text(_ path: String) -> String? { try? directory.text("tree/\(path)") }

    func run(
        _ command: ProjectProfile.Command?, flags: [String] = [], in subdirectory: String? = nil,
        environment: [String: String] = [:]
    ) async throws -> ProgramResult {
        guard let command else { throw ProgramFailure(description: "there is no such command") }
        var all = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        all["PATH"] = "\(bin):\(all["PATH"] ?? "/usr/bin:/bin")"
        all["NODE_OPTIONS"] = environment["NODE_OPTIONS"]
        return try await TestSupport.run(
            ["/bin/sh", "-c", command.text(in: subdirectory), "step"] + flags, in: directory.path("tree"),
            environment: all)
    }
}
