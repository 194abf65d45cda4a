import CLinux
import Glibc
import JobProtocol
import Processes

/// Runs clang's analyzer on every C, C++ and Objective-C source of a Swift package's C targets, at the places that the manifest names. Clang gets the
/// options that SwiftPM would use. Each source results in one SARIF file.
///
/// This runs as a step of the job, because reading the manifest means running it as a program. If SwiftPM cannot describe the package, which the
/// build step then reports, the sources below `Sources` are analyzed.
struct CAnalyzer {
    /// The directory of the SARIF files.
    let output: String
    /// `debug` or `release`.
    let configuration: String

    /// The message if no target has such sources.
    static let nothing = "no C targets: nothing to analyze"

    /// The options that SwiftPM 6.3 passes to every C-family source (`swift build -v`).
    private var usualOptions: [String] {
        ["-DSWIFT_PACKAGE=1", "-fblocks"] + (configuration == "debug" ? ["-DDEBUG=1"] : [])
    }

    private struct Source {
        let path: String
        let options: [String]
    }

    /// Analyzes all sources.
    /// - Returns: The exit status: 0 if clang could analyze each.
    func run() -> Int32 {
        do throws(JobCommand.Failure) {
            // Removes the reports of an earlier run.
            try JobCommand.run(["rm", "-rf", output], isShown: false)
            try JobCommand.run(["mkdir", "-p", output], isShown: false)
        } catch {
            Console.own.complain("analyzing failed: \(error.message)")
            return 1
        }
        let sources = described() ?? usual()
        if sources.isEmpty { Console.own.say(Self.nothing + "\n") }
        var status: Int32 = 0
        for (index, source) in sources.sorted(by: { $0.path < $1.path }).enumerated() {
            Console.own.say("clang --analyze \(source.path)\n")
            do throws(JobCommand.Failure) {
                try JobCommand.run(
                    ["clang", "--analyze", "--analyzer-output", "sarif"] + source.options
                        + ["-o", "\(output)/\(index + 1).sarif", source.path], isShown: false)
            } catch {
                // Clang's own message was printed above; the other sources are still analyzed.
                Console.own.complain("\(source.path): \(error.message)")
                status = 1
            }
        }
        return status
    }

    // MARK: By the manifest

    /// Returns the sources of C targets except those of tests; `nil` if SwiftPM cannot describe the package.
    private func described() -> [Source]? {
        let tool = PackageTool(swift: "swift", options: [])
        do throws(JobCommand.Failure) {
            let targets = (try tool.description()["targets"]?.elements ?? []).filter {
                $0["module_type"]?.text == "ClangTarget" && $0["type"]?.text != "test"
            }
            guard !targets.isEmpty else { return [] }
            let packages = try tool.manifests(scratch: output + "/manifests")
            return targets.flatMap { sources(of: $0, packages) }
        } catch {
            Console.own.complain("the package cannot be described: \(error.message); analyzing what is beneath Sources")
            return nil
        }
    }

    private func sources(of described: JSON, _ packages: [PackageManifest]) -> [Source] {
        guard let name = described["name"]?.text, let directory = described["path"]?.text else { return [] }
        let linked = packages.linkedTargets(of: [name])
        var includes: [String] = []
        for target in linked where target.type != "system" {
            includes += target.headers.first { access($0, R_OK) == 0 }.map { ["-I", relative($0, packages)] } ?? []
        }
        let flags = linked.compactMap(\.pkgConfig).flatMap(Self.flags(ofPackage:))
        let manifest = packages.first
        let settings = manifest?.targets[name].map {
            CSettings(target: $0.json, directory: directory, configuration: configuration)
        }
        return (described["sources"]?.elements ?? []).compactMap(\.text).filter(Self.isCSource).map { source in
            let isCPlusPlus = Self.isCPlusPlus(source)
            let standard = isCPlusPlus ? manifest?.cxxStandard : manifest?.cStandard
            return Source(
                path: "\(directory)/\(source)",
                options: usualOptions + (standard.map { ["-std=\($0)"] } ?? [])
                    + (settings?.words(isCPlusPlus: isCPlusPlus) ?? []) + includes + flags)
        }
    }

    /// Returns a path relative to the repository, so that findings in headers are named as in the repository.
    private func relative(_ path: String, _ packages: [PackageManifest]) -> String {
        guard let root = packages.first?.directory, path.hasPrefix(root + "/") else { return path }
        return String(path.dropFirst(root.utf8.count + 1))
    }

    /// Returns the compiler flags from a system library's pkg-config file; empty if there is none.
    private static func flags(ofPackage name: String) -> [String] {
        do throws(JobCommand.Failure) {
            return String(decoding: try JobCommand.capture(["pkg-config", "--cflags", name]), as: UTF8.self)
                .split { $0 == " " || $0 == "\n" }.map(String.init)
        } catch {
            return []
        }
    }

    // MARK: Without it

    private func usual() -> [Source] {
        let files = JobFiles.files(beneath: "Sources")
        let includes = JobFiles.names(in: "Sources").compactMap { target -> String? in
            let path = "Sources/\(target)/include"
            return access(path, R_OK) == 0 ? path : nil
        }
        return files.filter(Self.isCSource).map { path in
            let own = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
            return Source(path: path, options: usualOptions + includes.flatMap { ["-I", $0] } + ["-I", own])
        }
    }

    private static func isCSource(_ path: String) -> Bool {
        [".c", ".m"].contains(where: path.hasSuffix) || isCPlusPlus(path)
    }

    private static func isCPlusPlus(_ path: String) -> Bool {
        [".cc", ".cpp", ".cxx", ".mm"].contains(where: path.hasSuffix)
    }
}
