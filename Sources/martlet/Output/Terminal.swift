import ArgumentParser
import Foundation
import Glibc
import Model

/// Whether a command writes colors, as an option of commands that print results.
enum ColorChoice: String, CaseIterable, ExpressibleByArgument, Sendable {
    /// Colors on a terminal, unless `NO_COLOR` or `TERM=dumb` forbid them.
    case auto
    case always
    case never
}

/// The options that decide about colors. They have the names that GNU's tools and clig.dev use.
struct ColorOptions: ParsableArguments {
    @Option(help: "Color results: auto (on a terminal, without NO_COLOR and TERM=dumb), always or never.")
    var color: ColorChoice = .auto

    @Flag(help: "The same as --color never.") var noColor = false

    /// The decision for standard output.
    var terminal: Terminal {
        let environment = ProcessInfo.processInfo.environment
        return Terminal(
            noColor ? .never : color, environment: environment, isTerminal: isatty(STDOUT_FILENO) == 1)
    }
}

/// Standard output as the destination of text: with colors, or plain.
struct Terminal: Sendable {
    /// A color by its meaning. The raw value is the parameter of SGR (ECMA-48, section 8.3.117).
    enum Color: String, Sendable {
        case good = "32"
        case warning = "33"
        case bad = "31"
        case faint = "2"
        case heading = "1"

        /// Returns the color of a result, an outcome or a status; `nil` for words that are no judgment.
        init?(of word: String) {
            switch word {
            case "succeeded", "passed", "sent", "trusted", "resolved", "ok": self = .good
            case "warnings", "analyzer-warnings", "warning", "analyzer-warning", "flaky", "expectedFailure":
                self = .warning
            case "test-failures", "build-errors", "checkout-error", "internal-error", "trigger-error", "failed",
                "crashed", "error", "test-failure", "given-up", "new", "!!":
                self = .bad
            case "canceled", "skipped", "muted", "superseded", "unneeded", "yanked", "revoked", "--": self = .faint
            default: return nil
            }
        }
    }

    let isColored: Bool

    /// Without colors.
    static let plain = Terminal(.never, environment: [:], isTerminal: false)

    /// Decides about colors.
    /// - Parameters:
    ///   - choice: The user's choice, which wins over the environment.
    ///   - environment: `NO_COLOR` counts if it is not empty (no-color.org).
    ///   - isTerminal: Whether standard output is a terminal.
    init(_ choice: ColorChoice, environment: [String: String], isTerminal: Bool) {
        isColored =
            switch choice {
            case .always: true
            case .never: false
            case .auto: isTerminal && Self.allowsSequences(environment)
            }
    }

    /// Returns whether the environment allows escape sequences. `NO_COLOR` is taken as a request for no sequences at all.
    static func allowsSequences(_ environment: [String: String]) -> Bool {
        let terminal = environment["TERM"] ?? ""
        return !terminal.isEmpty && terminal != "dumb" && (environment["NO_COLOR"] ?? "").isEmpty
    }

    /// Returns text from outside on one line, with a color. The text itself never contributes an escape sequence.
    func paint(_ text: String, _ color: Color?) -> String {
        let text = Output.visible(text)
        guard isColored, let color, !text.isEmpty else { return text }
        return "\u{1B}[\(color.rawValue)m\(text)\u{1B}[0m"
    }

    /// Returns a result on one line, with its color.
    func paint(result: String) -> String { paint(result, Color(of: result)) }

    /// Returns a table whose columns are aligned by their widest cells. Empty cells at the end of a row are left out.
    /// - Parameters:
    ///   - heads: The heads of the columns. Without rows there are none.
    ///   - rows: The rows. Each cell is reduced to one line.
    func table(_ heads: [String], _ rows: [[Cell]]) -> String {
        rows.isEmpty ? "" : table([heads.map { Cell($0, .heading) }] + rows)
    }

    /// Returns a table without heads.
    func table(_ rows: [[Cell]]) -> String {
        let rows = rows.map { row in
            row.map { Cell(Output.visible($0.text), $0.color) }.reversed().drop { $0.text.isEmpty }.reversed().map(
                \.self)
        }
        guard let columns = rows.map(\.count).max() else { return "" }
        let widths = (0..<columns).map { column in
            rows.map { $0.count > column ? $0[column].text.count : 0 }.max() ?? 0
        }
        return rows.map { row in
            row.enumerated().map { index, cell in
                let padding = index == row.count - 1 ? 0 : widths[index] - cell.text.count + 2
                return paint(cell.text, cell.color) + String(repeating: " ", count: padding)
            }.joined() + "\n"
        }.joined()
    }
}

/// A cell of a table.
struct Cell: ExpressibleByStringInterpolation, Sendable {
    let text: String
    let color: Terminal.Color?

    init(_ text: String, _ color: Terminal.Color? = nil) { (self.text, self.color) = (text, color) }

    init(stringLiteral text: String) { self.init(text) }

    /// Returns the cell of a result, with its color.
    static func result(_ word: String) -> Cell { Cell(word, Terminal.Color(of: word)) }
}
