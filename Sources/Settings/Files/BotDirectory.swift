import Glibc
package import Model
import Synchronization

/// The directory of bot files. It is scanned repeatedly.
package final class BotDirectory: Sendable {
    /// The most bot files; later ones, by name, are problems.
    package static let maximumFiles = 5000
    /// The most directory entries that are read.
    static let maximumEntries = 20_000

    private struct Entry {
        var stamp: SystemFile.Stamp?
        var reading: Reading<BotSpecification>
    }

    private struct State {
        /// The entries by file name.
        var entries: [String: Entry] = [:]
        var lastGood: [Name: BotSpecification]
    }

    private let path: String
    private let maximumFiles: Int
    private let state: Mutex<State>

    /// - Parameters:
    ///   - directory: The settings' `bots`.
    ///   - lastGood: The bots' last valid specifications before the daemon stopped. One is used only while its file exists and is invalid.
    ///   - maximumFiles: The most bot files.
    package init(
        directory: String, lastGood: [BotSpecification] = [], maximumFiles: Int = BotDirectory.maximumFiles
    ) {
        path = directory
        self.maximumFiles = maximumFiles
        state = Mutex(
            State(lastGood: Dictionary(lastGood.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })))
    }

    /// Checks every `*.yml` and `*.yaml`, and reads those that are new or changed (by device, inode, size and time).
    ///
    /// It blocks while it reads small files. A bot whose file is gone is removed. If the directory cannot be read, that is a problem, and no bot
    /// changes.
    package func scan() -> BotDirectoryScan {
        state.withLock { scan(&$0) }
    }

    private func scan(_ state: inout State) -> BotDirectoryScan {
        let names: [String]
        do {
            names = try SystemFile.names(in: path, limit: Self.maximumEntries)
        } catch {
            return unreadable(error, state)
        }
        let files = names.filter { !$0.hasPrefix(".") && FilePath.yamlName(of: $0) != nil }
        var scan = BotDirectoryScan(bots: [], problems: [], readFiles: 0)
        for name in names {
            if let message = NearMiss.botFile(name) { warn(message, FilePath.join(path, name), bot: nil, in: &scan) }
        }
        var seen: [Name: String] = [:]
        var found: [(file: String, name: Name, reading: Reading<BotSpecification>)] = []
        for (index, file) in files.enumerated() {
            let filePath = FilePath.join(path, file)
            func refuse(_ message: String) {
                var diagnostics = Diagnostics(file: filePath)
                diagnostics.error(message, at: .start)
                scan.problems.append(
                    .init(file: filePath, bot: nil, diagnostics: diagnostics.list, isLastGoodKept: false))
            }
            guard index < maximumFiles else {
                refuse(
                    "the directory has more than \(maximumFiles) bot files, so this one is not read; remove some")
                continue
            }
            let word = FilePath.yamlName(of: file) ?? ""
            guard let name = Name(word) else {
                refuse("the file's name is the bot's: " + Diagnostics.badName(word, "the bot"))
                continue
            }
            if let other = seen[name] {
                refuse("the bot `\(name)` is in \(other) already; remove one of the two")
                continue
            }
            seen[name] = file
            found.append((file, name, reading(of: file, name, &scan, &state)))
        }
        var claims = PackageClaims()
        for (_, name, reading) in found { claims.hold(reading.value, lastGood: state.lastGood[name]) }
        for (file, name, reading) in found {
            let problem = claims.claim(reading.value, lastGood: state.lastGood[name])
            add(file, name, reading, problem: problem, to: &scan, &state)
        }
        warnOfScripts(in: &scan, files: seen)
        let there = Set(files)
        state.entries = state.entries.filter { there.contains($0.key) }
        state.lastGood = state.lastGood.filter { seen[$0.key] != nil }
        return scan
    }

    /// Adds warnings about scripts that cannot run. Each scan repeats the check, since a script can be fixed without a change of its bot file.
    private func warnOfScripts(in scan: inout BotDirectoryScan, files: [Name: String]) {
        let directory = FilePath.join(FilePath.parent(of: path), "triggers")
        for bot in scan.bots {
            for trigger in bot.triggers {
                guard case .run(let script) = trigger.action, let message = NearMiss.script(script, in: directory)
                else {
                    continue
                }
                let file = FilePath.join(path, files[bot.name] ?? "\(bot.name).yml")
                warn("the trigger `\(trigger.name)` cannot run: \(message)", file, bot: bot.name, in: &scan)
            }
        }
    }

    private func warn(_ message: String, _ file: String, bot: Name?, in scan: inout BotDirectoryScan) {
        var diagnostics = Diagnostics(file: file)
        diagnostics.warning(message, at: .start)
        scan.problems.append(.init(file: file, bot: bot, diagnostics: diagnostics.list, isLastGoodKept: false))
    }

    /// Returns the bot in a file. The file is read only if it is new or changed.
    private func reading(
        of file: String, _ name: Name, _ scan: inout BotDirectoryScan, _ state: inout State
    ) -> Reading<BotSpecification> {
        let filePath = FilePath.join(path, file)
        // A file that vanished since the directory was listed is treated like an unreadable one until the next scan.
        let now = (try? SystemFile.status(filePath)).map(SystemFile.Stamp.init)
        if let known = state.entries[file], let stamp = known.stamp, stamp == now { return known.reading }
        let entry = read(filePath, name)
        scan.readFiles += 1
        state.entries[file] = entry
        return entry.reading
    }

    /// Adds the result of one file to the scan.
    /// - Parameter problem: A conflict with another file; `nil` if there is none.
    private func add(
        _ file: String, _ name: Name, _ reading: Reading<BotSpecification>, problem: String?,
        to scan: inout BotDirectoryScan, _ state: inout State
    ) {
        let filePath = FilePath.join(path, file)
        var reading = reading
        if let problem {
            var diagnostics = Diagnostics(file: filePath)
            diagnostics.error(problem, at: .start)
            reading = diagnostics.reading(of: nil)
        }
        if let bot = reading.value { state.lastGood[name] = bot }
        let lastGood = state.lastGood[name]
        if let lastGood { scan.bots.append(lastGood) }
        if !reading.diagnostics.isEmpty {
            let isKept = reading.value == nil && lastGood != nil
            scan.problems.append(
                .init(file: filePath, bot: name, diagnostics: reading.diagnostics, isLastGoodKept: isKept))
        }
    }

    private func read(_ filePath: String, _ name: Name) -> Entry {
        var diagnostics = Diagnostics(file: filePath)
        do {
            let file = try SystemFile.read(filePath, limit: YAMLGuard.maximumSize)
            let stamp = SystemFile.Stamp(file.status)
            let trusted = stamp.isFresh ? nil : stamp
            guard let yaml = UTF8Text.decode(file.bytes, &diagnostics) else {
                return Entry(stamp: trusted, reading: diagnostics.reading(of: nil))
            }
            return Entry(stamp: trusted, reading: BotFileReader.read(yaml: yaml, file: filePath, name: name))
        } catch {
            diagnostics.error("cannot be read: \(error.reason)", at: .start)
            return Entry(stamp: nil, reading: diagnostics.reading(of: nil))
        }
    }

    private func unreadable(_ failure: SystemFile.Failure, _ state: State) -> BotDirectoryScan {
        var diagnostics = Diagnostics(file: path)
        let other = NearMiss.directory(inPlaceOf: path).map { " (\($0) is there)" } ?? ""
        diagnostics.error(
            "the directory of bot files cannot be read: \(failure.reason)\(other); make it, or name another with `bots:` in the "
                + "settings", at: .start)
        let bots = state.lastGood.values.sorted { $0.name < $1.name }
        let problem = BotDirectoryScan.Problem(
            file: path, bot: nil, diagnostics: diagnostics.list, isLastGoodKept: !bots.isEmpty)
        return BotDirectoryScan(bots: bots, problems: [problem], readFiles: 0)
    }
}

/// The result of scanning the directory of bot files.
package struct BotDirectoryScan: Hashable, Sendable {
    /// An error or a warning in a bot file, or in the directory.
    package struct Problem: Hashable, Sendable {
        /// The file's path; the directory's path if it cannot be read.
        package var file: String
        /// The bot of the file; `nil` if the file's name is no valid bot name.
        package var bot: Name?
        package var diagnostics: [Diagnostic]
        /// Whether the bot continues with the last valid specification from the file.
        package var isLastGoodKept: Bool

        package init(file: String, bot: Name?, diagnostics: [Diagnostic], isLastGoodKept: Bool) {
            self.file = file
            self.bot = bot
            self.diagnostics = diagnostics
            self.isLastGoodKept = isLastGoodKept
        }
    }

    /// The bots by name. A bot whose file is invalid has its last valid specification.
    package var bots: [BotSpecification]
    /// The problems by file. A file with only warnings is included; its bot is used.
    package var problems: [Problem]
    /// The number of files that were read and parsed because they are new or changed.
    package var readFiles: Int

    package init(bots: [BotSpecification], problems: [Problem], readFiles: Int) {
        self.bots = bots
        self.problems = problems
        self.readFiles = readFiles
    }
}
