import Foundation
import Glibc
import Integrations
import Model

/// Shows a run while it runs: on a terminal a line that is drawn anew, elsewhere a line for each step; and the errors,
/// warnings and failing tests as they are found.
actor RunDisplay {
    /// How the run is shown.
    enum Style: Sendable {
        /// A last line that changes, by carriage return and "erase to the end of the line" (ECMA-48, EL).
        case live
        case plain
        /// For programs, which read the result.
        case silent

        /// By what standard output is, and what people say of their terminals: `TERM=dumb`, and `NO_COLOR`
        /// (no-color.org), which is taken to want no sequences at all.
        static func standard(environment: [String: String]) -> Style {
            let terminal = environment["TERM"] ?? ""
            let isPlain = terminal.isEmpty || terminal == "dumb" || !(environment["NO_COLOR"] ?? "").isEmpty
            return isatty(STDOUT_FILENO) == 1 && !isPlain ? .live : .plain
        }

        /// How often it looks: often enough to be seen moving; a look costs some reads of SQLite and the log's new bytes.
        var interval: Duration { self == .live ? .milliseconds(100) : .milliseconds(250) }
    }

    let style: Style
    /// What the last line says; nothing when it is empty.
    private var line: String?
    private var watch: RunWatch?

    init(style: Style) { self.style = style }

    func begin(_ beginning: RunBeginning) {
        watch = beginning.watch
        say(RunReport.beginning(beginning))
    }

    /// Looks until the task is cancelled.
    func run() async {
        guard style != .silent else { return }
        while !Task.isCancelled {
            await update()
            do { try await Task.sleep(for: style.interval) } catch { return }
        }
    }

    /// Shows what is new.
    func update() async {
        // A look that fails shows nothing; the result tells what is wrong.
        guard style != .silent, let watch, let (news, running) = try? await watch.look() else { return }
        for item in news { show(item) }
        guard style == .live, !running.isEmpty else { return }
        let now = WallClock.system.now()
        draw(running.map { RunReport.progress($0, at: now) }.joined(separator: " · "))
    }

    /// Prints the issues that were not printed while it ran, and the end.
    func end(_ result: WorkingTreeResult, _ answer: IntegrationAnswer) async {
        guard style != .silent else { return }
        for issue in result.issues where issue.status != .resolved {
            var wasTold = false
            for configuration in issue.configurations {
                if let told = await watch?.told(configuration), RunReport.wasTold(issue, told) { wasTold = true }
            }
            guard !wasTold else { continue }
            say(
                RunReport.line(
                    issue.finding, in: issue.configurations, isCarried: result.carried.contains(issue.fingerprint)))
        }
        say(RunReport.end(answer, logs: result.logs))
    }

    /// A text of whole lines, above the line that changes.
    func say(_ text: String) {
        guard style != .silent else { return }
        erase()
        Output.print(text)
    }

    private func show(_ news: RunWatch.News) {
        switch news {
        case .began(let configuration, let step, let name):
            if style == .plain { say(Output.visible("\(configuration) \(RunReport.words(step, name))") + "\n") }
        case .found(let configuration, let finding): say(RunReport.line(finding, in: [configuration]))
        case .failed(let configuration, let test): say(RunReport.line(test, in: configuration))
        case .ended, .completed: erase()
        }
    }

    private func draw(_ text: String) {
        // One column less: in the last one some terminals wrap.
        let text = String(Output.visible(text).prefix(Self.columns - 1))
        guard text != line else { return }
        Output.print("\r\u{1B}[K" + text)
        line = text
    }

    func erase() {
        if line != nil { Output.print("\r\u{1B}[K") }
        line = nil
    }

    /// The terminal's, 80 when it does not say.
    private static var columns: Int {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 1 else { return 80 }
        return Int(size.ws_col)
    }
}
