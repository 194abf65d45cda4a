import Basics
import Subprocess
import SystemPackage

/// Which Swift the machine has.
package enum ToolchainVersion {
    /// How long it may take to say so: 0.1 s, on a machine under load seconds.
    private static let patience = Duration.seconds(20)
    /// Bytes that are read of what it says, some 100.
    private static let outputLimit = 4096
    /// Characters kept of a snapshot's version.
    private static let maximumLength = 100

    /// Where it may leave what it likes while it is asked: Swift's driver (6.3.1) makes a directory in TMPDIR each time, and does not
    /// remove it.
    private static let temporary = ".martlet-toolchain"

    /// The version of the `swift` in PATH, such as `6.3.1`; nothing where there is none, or it does not say.
    /// - Parameter place: A directory of ours, in which nothing of it is left; what a daemon that was killed left there goes first.
    package static func swift(within place: String) async -> String? {
        let lane = BlockingLane(label: "toolchain")
        // Where nothing can be written there is nobody to be told a version either.
        guard (try? await lane.run { try empty(place) }) != nil else { return nil }
        let version = await ask(temporary: "\(place)/\(temporary)")
        // It is emptied before the next time too.
        _ = try? await lane.run { try Directory(opening: place).remove(temporary) }
        return version
    }

    private static func empty(_ place: String) throws(FileError) {
        try Directory(opening: place).makeEmptyDirectory(temporary, mode: 0o700)
    }

    private static func ask(temporary: String) async -> String? {
        await withTaskGroup(of: String?.self) { group in
            group.addTask {
                // Not there, or not to be started: there is none.
                let result = try? await Subprocess.run(
                    .name("swift"), arguments: ["--version"],
                    environment: .inherit.updating(["TMPDIR": temporary]), workingDirectory: "/", input: .none,
                    output: .string(limit: outputLimit), error: .discarded)
                guard let result, result.terminationStatus.isSuccess else { return nil }
                return version(in: result.standardOutput)
            }
            group.addTask {
                // Cancelled once it is known.
                try? await Task.sleep(for: patience)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }

    /// What `swift --version` prints: `Swift version 6.3.1 (swift-6.3.1-RELEASE)`. Of a snapshot, whose number stays while it changes,
    /// all that it says.
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
