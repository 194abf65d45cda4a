import Basics
import Execution
import Glibc
import JobProtocol
import Model

/// Determines the compiler of a job by searching it where the job finds it. The compiler is not run, because a job's programs run only in its
/// sandbox.
enum ToolchainReading {
    /// Returns the most significant program of a kind of project; `nil` if unknown.
    private static func program(of type: ProjectType?) -> String? {
        switch type {
        case .swiftPackage: "swift"
        case .cmake, .make, .meson, .autotools: "cc"
        case .cargo: "rustc"
        case .go: "go"
        case .npm: "node"
        case .python: "python3"
        case .maven, .gradle: "java"
        case .dotnet: "dotnet"
        case .mix: "elixir"
        case .rebar3: "erl"
        case .dune: "ocaml"
        case .stack, .cabal: "ghc"
        case .composer: "php"
        case .bundler: "ruby"
        case .lua: "lua"
        case .perl: "perl"
        case .zig: "zig"
        case .bazel: "bazel"
        case .shell: "sh"
        case nil: nil
        }
    }

    /// The result of the search.
    struct Finding: Equatable {
        var toolchain: Provenance.Toolchain?
        /// The reason why the toolchain is unknown, if it may be another than it seems; `nil` otherwise.
        var note: String?
    }

    /// Searches the `PATH` that the service gives a job. A `PATH` of the repository cannot be vouched for. The job may find its own files, and the
    /// same path on the machine may contain something else, or a file of another job.
    /// - Parameter configuration: The job's configuration.
    /// - Returns: A finding without a toolchain for an unknown kind of project, and if `PATH` has no such program.
    static func toolchain(
        of job: JobDescription, for type: ProjectType?, configuration: Recipe.Configuration?
    ) -> Finding {
        guard let program = program(of: type) else { return Finding() }
        guard configuration?.environment["PATH"] == nil, !job.steps.contains(where: { $0.environment["PATH"] != nil })
        else { return Finding(note: "the recipe sets PATH, so which \(program) built it is not known") }
        let root = job.sandbox?.root ?? ""
        for entry in (job.environment["PATH"] ?? "").split(separator: ":") where entry.hasPrefix("/") {
            // Links in an image may lead out of it, so they are not followed there.
            let place = "\(root)\(entry)/\(program)"
            guard access(place, X_OK) == 0 else { continue }
            guard let resolved = root.isEmpty ? resolve(place) : place else { continue }
            // The job cannot have found a program that the sandbox does not show, such as the target of a link in it.
            if let sandbox = job.sandbox, root.isEmpty, !Toolchains.isSeen(resolved, within: sandbox.readOnly) {
                continue
            }
            let shown = String(resolved.dropFirst(root.count))
            if program == "swift", let version = swiftVersion(resolved) {
                return Finding(toolchain: .init(program: program, path: shown, version: version))
            }
            // If the program cannot be read, only its path is stated.
            let digest = try? Digest.sha256(ofFile: resolved).sha256
            return Finding(toolchain: .init(program: program, path: shown, sha256: digest))
        }
        return Finding()
    }

    private static func resolve(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Returns the compiler's version from the interface of its standard library, which is the line that `swift --version` prints first. `nil` if
    /// there is none.
    private static func swiftVersion(_ program: String) -> String? {
        let parts = program.split(separator: "/", omittingEmptySubsequences: false).dropLast(2)
        let module = parts.joined(separator: "/") + "/lib/swift/linux/Swift.swiftmodule"
        // A toolchain without such a module is identified by its digest.
        guard let directory = try? Directory(opening: module),
            let name = try? directory.entries(limit: 100).map(\.name).first(where: { $0.hasSuffix(".swiftinterface") }),
            let descriptor = try? directory.openForReading(name)
        else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(descriptor, &bytes, bytes.count)
        let mark = "// swift-compiler-version: "
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: "\n")
            .first { $0.hasPrefix(mark) }.map { String($0.dropFirst(mark.count).prefix(200)) }
    }
}
