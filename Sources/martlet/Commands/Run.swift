import API
import ArgumentParser
import Basics
import Execution
import Foundation
import Integrations
import Model
import Settings
import SourceControl
import Storage
import UnixSignals
import Web

/// The command `martlet run [DIRECTORY]`.
struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Runs a working tree as a bot would run its commit: here, now, without a daemon.",
        discussion: """
            What is on the disk is run, uncommitted changes and new files included, ignored files left out. It is \
            copied to $XDG_CACHE_HOME/martlet/run and built there; nothing in the working tree is touched, and what was \
            built stays warm for the next run. Products are not archived.

            Exit status: 0 green, also with warnings; 1 red; 64 a wrong command line; 66 there is no such directory; 69 \
            another run works on it; 70 the fault is ours; 73 the cache cannot be used; 78 the settings are wrong, or ask \
            for a sandbox that cannot work here; 130 canceled. Ctrl-C cancels and lets what runs end, at most for 10 s; a \
            second Ctrl-C kills it.
            """)

    @Argument(help: "Where to run: a directory in the working tree.") var directory = "."
    @Option(name: .customLong("configuration"), help: "Only this configuration; may be given several times.")
    var configurations: [String] = []
    @Option(help: "Only the tests that this regular expression matches, as in swift test --filter.") var tests: String?
    @Flag(help: "The configurations and tests of the last run in this directory.") var again = false
    @Flag(help: "Empty the build directories first.") var clean = false
    @Option(
        help:
            "sandbox: jobs are isolated from this machine; none: they have your rights. Default: as the settings say."
    )
    var isolation: IsolationOption?
    @OptionGroup var location: SettingsLocation
    @OptionGroup var colors: ColorOptions
    @Flag(help: "Print the result as the daemon's interface has it, and nothing else.") var json = false

    func run() async throws {
        try await Failure.exiting {
            guard !again || configurations.isEmpty && tests == nil else {
                throw Failure(.usage, "--again repeats the last selection; leave --configuration and --tests out")
            }
            do {
                let run = try await open()
                let terminal = colors.terminal
                let display = RunDisplay(style: json ? .silent : .standard(terminal), terminal: terminal)
                try await runHandlingSignals(run, display)
            } catch let error as RunError {
                throw Failure(error)
            } catch let error as SourceControlError {
                throw Failure(error.code == .file ? .cannotCreate : .software, "\(error)")
            } catch let error as ExecutionError {
                throw Failure(.software, "\(error)")
            } catch let error as StoreError {
                throw Failure(.cannotCreate, "\(error)")
            }
        }
    }

    private static var environment: [String: String] { ProcessInfo.processInfo.environment }

    private func open() async throws -> WorkingTreeRun {
        let environment = Self.environment
        let processors = ProcessInfo.processInfo.activeProcessorCount
        let (supervisor, tools) = (try OwnPrograms.supervisor(), try OwnPrograms.tools())
        let settings = try self.settings()
        return try await WorkingTreeRun(
            .init(
                directory: directory, caches: try Self.caches(environment), environment: environment,
                supervisor: supervisor, tools: tools, reader: try OwnPrograms.reader(),
                concurrency: max(1, processors / 4),
                isolation: { try await MachineIsolation.decide(settings, supervisor: supervisor, tools: tools) }))
    }

    /// Reads the machine's or the user's settings for their isolation. If no file was named, unreadable settings count as absent, because only the
    /// daemon may be able to read its own.
    private func settings() throws -> ServiceSettings {
        var settings = ServiceSettings(state: "", bots: "", concurrency: 1)
        if location.settings != nil {
            settings = try location.read()
        } else if let known = try? location.read() {
            settings = known
        }
        if let isolation { settings.isolation = isolation.value }
        return settings
    }

    /// Returns `$XDG_CACHE_HOME/martlet/run`. A relative value is ignored, as the XDG base directory specification 0.8 requires.
    static func caches(_ environment: [String: String]) throws -> String {
        if let cache = environment["XDG_CACHE_HOME"], cache.hasPrefix("/") { return cache + "/martlet/run" }
        guard let home = environment["HOME"], home.hasPrefix("/") else {
            throw Failure(.configuration, "HOME is not set, so there is no place to build in; set XDG_CACHE_HOME")
        }
        return home + "/.cache/martlet/run"
    }

    private func selection(_ run: WorkingTreeRun) throws -> RunSelection {
        if again { return try run.lastSelection() }
        let names = try configurations.map { text in
            guard let name = Name(text) else {
                throw Failure(
                    .usage,
                    "--configuration \(Output.visible(text)) cannot be a configuration's name; `martlet lint` prints the names"
                )
            }
            return name
        }
        return RunSelection(configurations: names, tests: tests)
    }

    /// Runs, and handles Ctrl-C until everything is printed. A pipe whose reader has stopped delays the output, but not the end of the run.
    private func runHandlingSignals(_ run: WorkingTreeRun, _ display: RunDisplay) async throws {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)
        let (sentences, sentence) = AsyncStream.makeStream(of: String.self)
        let (printed, reportPrinted) = AsyncStream.makeStream(of: String.self)
        let (requests, request) = AsyncStream.makeStream(of: Void.self)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await show(run, display)
                return true
            }
            group.addTask {
                for await text in sentences {
                    await display.print(text)
                    reportPrinted.yield(text)
                }
                return false
            }
            group.addTask {
                for await _ in requests {
                    await run.cancellation.request(.init(reason: "canceled at the terminal"))
                    sentence.yield("canceling: what runs has 10 s to end; Ctrl-C again kills it\n")
                }
                return false
            }
            group.addTask {
                var isCanceled = false
                for await _ in signals {
                    if isCanceled { await Self.kill(run, printing: sentence, printed) }
                    isCanceled = true
                    request.yield()
                }
                return false
            }
            defer { group.cancelAll() }
            while let isDone = try await group.next() { if isDone { return } }
        }
    }

    /// The longest time for printing the last word. A terminal prints it immediately.
    private static let patience = Duration.seconds(1)

    /// Kills the run's processes and ends this process.
    private static func kill(
        _ run: WorkingTreeRun, printing sentence: AsyncStream<String>.Continuation, _ printed: AsyncStream<String>
    ) async {
        await run.kill()
        let word = "killed\n"
        sentence.yield(word)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { _ = await printed.first { $0 == word } }
            // Ends early when the word is printed.
            group.addTask { try? await Task.sleep(for: Self.patience) }
            await group.next()
            group.cancelAll()
        }
        Foundation.exit(RunStatus.of("canceled"))
    }

    /// Runs, and shows the progress and the result.
    private func show(_ run: WorkingTreeRun, _ display: RunDisplay) async throws {
        let result: Result<WorkingTreeResult, any Error>
        do {
            result = .success(try await follow(run, display))
        } catch {
            result = .failure(error)
        }
        // Shows the latest progress while the store is open.
        await display.update()
        await display.erase()
        try await run.close()
        try await finish(try result.get(), display)
    }

    /// Runs, and shows the progress meanwhile.
    private func follow(_ run: WorkingTreeRun, _ display: RunDisplay) async throws -> WorkingTreeResult {
        let selection = try selection(run)
        return try await withThrowingTaskGroup(of: WorkingTreeResult?.self) { group in
            group.addTask { try await run.run(selection, isClean: clean) { await display.begin($0) } }
            group.addTask {
                await display.run()
                return nil
            }
            defer { group.cancelAll() }
            while let ended = try await group.next() { if let result = ended { return result } }
            throw Failure(.software, "the run ended without a result, which is a fault of Martlet; please report it")
        }
    }

    private func finish(_ result: WorkingTreeResult, _ display: RunDisplay) async throws {
        let run = API.LocalRun(result)
        if json { Output.print(try run.json()) }
        let answer = run.detail
        await display.end(result, answer)
        let status = RunStatus.of(answer.outcome)
        if status != 0 { throw ExitCode(status) }
    }
}

extension Failure {
    init(_ error: RunError) {
        let status: Status =
            switch error.code {
            case .notFound: .notFound
            case .unknownConfiguration: .usage
            case .busy: .unavailable
            case .cache: .cannotCreate
            case .canceled: .canceled
            }
        self.init(status, error.description)
    }
}

/// The option `--isolation`: `sandbox` or `none`.
struct IsolationOption: ExpressibleByArgument {
    let value: ServiceSettings.Isolation

    init?(argument: String) {
        guard let value = ServiceSettings.Isolation(rawValue: argument) else { return nil }
        self.value = value
    }

    static var allValueStrings: [String] { ServiceSettings.Isolation.allCases.map(\.rawValue) }
}
