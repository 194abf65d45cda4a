import API
import Foundation
import Glibc
import Integrations
import Model
import Storage

/// Shows a run in progress: on a terminal as a line that is redrawn, elsewhere as a line for each step. Errors, warnings and failing tests are shown
/// as they are found.
actor RunDisplay {
    /// How the run is shown.
    enum Style: Sendable {
        /// A last line that changes, by carriage return and "erase to the end of the line" (ECMA-48, EL).
        case live
        case plain
        /// No progress, for programs that read the result.
        case silent

        /// Returns the style for standard output. It is plain where the user or the environment asks for no escape sequences.
        static func standard(_ terminal: Terminal) -> Style {
            isatty(STDOUT_FILENO) == 1 && terminal.isColored ? .live : .plain
        }

        /// The interval between updates. An update costs some reads of SQLite and of the log's new bytes.
        var interval: Duration { self == .live ? .milliseconds(100) : .milliseconds(250) }
    }

    let style: Style
    private let terminal: Terminal
    /// The content of the last line; `nil` if it is empty.
    private var line: String?
    private var watch: RunWatch?

    init(style: Style, terminal: Terminal) { (self.style, self.terminal) = (style, terminal) }

    func begin(_ beginning: RunBeginning) {
        watch = beginning.watch
        print(RunReport.beginning(beginning))
    }

    /// Updates until the task is canceled.
    func run() async {
        guard style != .silent else { return }
        while !Task.isCancelled {
            await update()
            do { try await Task.sleep(for: style.interval) } catch { return }
        }
    }

    /// Shows what is new since the last update.
    func update() async {
        // An update that fails shows nothing; the result reports the error.
        guard style != .silent, let watch, let (news, running) = try? await watch.look() else { return }
        for item in news { show(item) }
        guard style == .live, !running.isEmpty else { return }
        let now = WallClock.system.now()
        draw(running.map { RunReport.progress($0, at: now) }.joined(separator: " · "))
    }

    /// Prints the issues that were not printed during the run, and the result.
    func end(_ result: WorkingTreeResult, _ answer: API.IntegrationDetail) async {
        guard style != .silent else { return }
        for issue in result.issues where issue.status != .resolved {
            var wasReported = false
            for configuration in issue.configurations {
                if let reported = await watch?.reported(configuration), RunReport.wasReported(issue, reported) {
                    wasReported = true
                }
            }
            guard !wasReported else { continue }
            print(
                RunReport.line(
                    issue.finding, in: issue.configurations, on: terminal,
                    isCarried: result.carried.contains(issue.fingerprint)))
        }
        print(RunReport.end(answer, logs: result.logs, on: terminal))
    }

    /// Prints whole lines above the line that changes.
    func print(_ text: String) {
        guard style != .silent else { return }
        erase()
        Output.print(text)
    }

    private func show(_ news: RunWatch.News) {
        switch news {
        case .began(let configuration, let step, let name):
            if style == .plain { print(Output.visible("\(configuration) \(RunReport.words(step, name))") + "\n") }
        case .found(let configuration, let finding): print(RunReport.line(finding, in: [configuration], on: terminal))
        case .failed(let configuration, let test): print(RunReport.line(test, in: configuration, on: terminal))
        case .ended, .completed: erase()
        }
    }

    private func draw(_ text: String) {
        // One column less, because some terminals wrap in the last one.
        let text = String(Output.visible(text).prefix(Self.columns - 1))
        guard text != line else { return }
        Output.print("\r\u{1B}[K" + text)
        line = text
    }

    func erase() {
        if line != nil { Output.print("\r\u{1B}[K") }
        line = nil
    }

    /// The terminal's width in columns; 80 if it is unknown.
    private static var columns: Int {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 1 else { return 80 }
        return Int(size.ws_col)
    }
}
