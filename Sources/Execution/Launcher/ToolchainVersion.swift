import Basics
import Subprocess
import SystemPackage

/// The version of Swift on this machine.
package enum ToolchainVersion {
    /// The time limit for printing the version. It takes 0.1 s, but seconds on a machine under load.
    private static let patience = Duration.seconds(20)
    /// The size limit in bytes of the output, which has some 100.
    private static let outputLimit = 4096
    /// The largest number of characters that are kept of a version.
    private static let maximumLength = 100

    /// The name of a directory for the compiler's temporary files: Swift's driver (6.3.1) creates a directory in TMPDIR each time and does not remove
    /// it.
    private static let temporary = ".martlet-toolchain"

    /// Returns the version of the `swift` in PATH, such as `6.3.1`; `nil` if there is none, or it does not print a version.
    /// - Parameter place: A directory of the service for temporary files. They are removed afterwards; those of a killed daemon are removed first.
    package static func swift(within place: String) async -> String? {
        let queue = SerialQueue(label: "toolchain")
        // If the directory cannot be written, the version is of no use.
        guard (try? await queue.run { try empty(place) }) != nil else { return nil }
        let version = await ask(temporary: "\(place)/\(temporary)")
        // If this fails, the directory is emptied before the next time.
        _ = try? await queue.run { try Directory(opening: place).remove(temporary) }
        return version
    }

    private static func empty(_ place: String) throws(FileError) {
        try Directory(opening: place).makeEmptyDirectory(temporary, mode: 0o700)
    }

    private static func ask(temporary: String) async -> String? {
        await withTaskGroup(of: String?.self) { group in
            group.addTask {
                // An error means that there is no Swift, or it cannot be started.
                let result = try? await Subprocess.run(
                    .name("swift"), arguments: ["--version"],
                    environment: .inherit.updating(["TMPDIR": temporary]), workingDirectory: "/", input: .none,
                    output: .string(limit: outputLimit), error: .discarded)
                guard let result, result.terminationStatus.isSuccess else { return nil }
                return version(in: result.standardOutput)
            }
            group.addTask {
                // Canceled when the version is known.
                try? await Task.sleep(for: patience)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }

    /// Parses the output of `swift --version`: `Swift version 6.3.1 (swift-6.3.1-RELEASE)`. For a snapshot, whose number does not change from one to
    /// the next, the rest of the line is returned.
    static func version(in output: String) -> String? {
        let mark = "Swift version "
        for line in output.split(whereSeparator: \.isNewline) {
            guard let place = line.firstRange(of: mark) else { continue }
            let rest = line[place.upperBound...]
            let number = rest.prefix { $0 != " " }
            guard number.first?.isNumber == true else { return nil }
            return String(number.contains("-") ? rest.prefix(maximumLength) : number.prefix(maximumLength))
        }
        return nil
    }
}
