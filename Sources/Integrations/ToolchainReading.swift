import Archives
import Basics
import Glibc
import JobProtocol
import Model

/// What a job's compiler is, found where the job finds it, and read without being run: a job's programs run in its fence
/// alone.
enum ToolchainReading {
    /// The program that says most of each kind of project.
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

    /// What is found of it.
    struct Finding: Equatable {
        var toolchain: Provenance.Toolchain?
        /// Why it cannot be said, where it could be another than it seems.
        var note: String?
    }

    /// Looks along the PATH that the service gives a job. One that the repository gives says nothing that could be vouched for: the job finds
    /// what it wrote itself, and the same place of the machine holds something else, or what another job planted.
    /// - Parameter configuration: The job's.
    /// - Returns: Nothing for another kind of project, and where PATH has no such program.
    static func toolchain(
        of job: JobDescription, for type: ProjectType?, configuration: Recipe.Configuration?
    ) -> Finding {
        guard let program = program(of: type) else { return Finding() }
        guard configuration?.environment["PATH"] == nil, !job.steps.contains(where: { $0.environment["PATH"] != nil })
        else { return Finding(note: "the recipe sets PATH, so which \(program) built it is not known") }
        let root = job.fence?.root ?? ""
        for entry in (job.environment["PATH"] ?? "").split(separator: ":") where entry.hasPrefix("/") {
            // An image's links may lead out of it, so they are not followed there.
            let place = "\(root)\(entry)/\(program)"
            guard access(place, X_OK) == 0 else { continue }
            guard let resolved = root.isEmpty ? resolve(place) : place else { continue }
            // What the fence does not show, as where a link in it leads, the job did not find either.
            if let fence = job.fence, root.isEmpty, !Toolchains.isSeen(resolved, within: fence.readOnly) { continue }
            let shown = String(resolved.dropFirst(root.count))
            if program == "swift", let version = swiftVersion(resolved) {
                return Finding(toolchain: .init(program: program, path: shown, version: version))
            }
            // Of one that cannot be read the path has to do.
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

    /// The line that the compiler wrote into the interface of its standard library; `swift --version` prints it first.
    private static func swiftVersion(_ program: String) -> String? {
        let parts = program.split(separator: "/", omittingEmptySubsequences: false).dropLast(2)
        let module = parts.joined(separator: "/") + "/lib/swift/linux/Swift.swiftmodule"
        // A toolchain without such a module is told by its digest.
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
