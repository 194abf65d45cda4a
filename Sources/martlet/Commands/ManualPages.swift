import ArgumentParser
import Basics
import Foundation
import Model
import Storage

/// The hidden command `martlet manual-pages DIRECTORY`: writes the man pages from the commands' own help.
struct ManualPages: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "manual-pages", abstract: "Writes martlet.1 and a man page for each command.",
        discussion: "deploy/install uses it. The pages are in mdoc(7).", shouldDisplay: false)

    @Argument(help: "The directory to write them into.") var directory: String

    func run() async throws {
        try await Failure.exiting {
            let tool: CommandHelp.Tool
            do {
                tool = try JSONDecoder().decode(CommandHelp.Tool.self, from: Data(Martlet._dumpHelp().utf8))
            } catch {
                throw Failure(.software, "the man pages cannot be made from the commands' help: \(error)")
            }
            let date = String(WallClock.system.now().description.prefix(10))
            for page in ManualPage.all(of: tool.command, date: date, version: Martlet.version) {
                let path = "\(directory)/\(page.name).1"
                do throws(FileError) {
                    try AtomicFile.write(Array(page.text.utf8), to: path, mode: 0o644)
                } catch {
                    throw Failure(.cannotCreate, "the man page \(path) cannot be written: \(error.message)")
                }
            }
        }
    }
}

/// The output of `--experimental-dump-help`, serialization version 0 (ArgumentParserToolInfo), as far as it is used.
enum CommandHelp {
    /// The program.
    struct Tool: Decodable {
        let command: Command
    }

    /// A command in that output.
    struct Command: Decodable {
        let commandName: String
        let abstract: String?
        let discussion: String?
        let subcommands: [Command]?
        let arguments: [Argument]?
        let aliases: [String]?
        let shouldDisplay: Bool?

        var isShown: Bool { shouldDisplay ?? true && commandName != "help" }
    }

    /// An argument in that output.
    struct Argument: Decodable {
        enum Kind: String, Decodable { case positional, option, flag }

        struct Name: Decodable {
            let kind: String
            let name: String
        }

        let kind: Kind
        let names: [Name]?
        let valueName: String?
        let abstract: String?
        let defaultValue: String?
        let isOptional: Bool
        let isRepeating: Bool
        let shouldDisplay: Bool
    }
}

/// A man page in mdoc(7).
struct ManualPage {
    /// The name without the section, such as `martlet-token-create`.
    let name: String
    let text: String

    /// Returns the page of a command, and those of its subcommands.
    /// - Parameters:
    ///   - date: The date of the pages, as `2026-12-31`.
    ///   - version: The program's version.
    static func all(
        of command: CommandHelp.Command, above: [String] = [], date: String, version: String
    ) -> [ManualPage] {
        let path = above + [command.commandName]
        let inner = (command.subcommands ?? []).filter(\.isShown)
        var page = MdocText(date: date, version: version, path: path, abstract: command.abstract ?? "")
        page.add(synopsis: command.arguments ?? [], hasCommands: !inner.isEmpty)
        page.add(description: [command.abstract, command.discussion].compactMap(\.self), command.arguments ?? [])
        page.add(commands: inner)
        if above.isEmpty { page.addEnvironment() }
        page.add(seeAlso: above.isEmpty ? [] : [above.joined(separator: "-")])
        return [ManualPage(name: path.joined(separator: "-"), text: page.text)]
            + inner.flatMap { all(of: $0, above: path, date: date, version: version) }
    }
}

/// The text of a man page while it is written.
struct MdocText {
    private(set) var text: String
    private let path: [String]

    init(date: String, version: String, path: [String], abstract: String) {
        self.path = path
        let name = path.joined(separator: "-")
        text = ".\\\" Written by `martlet manual-pages` from the command's help.\n.Dd \(date)\n"
        text += ".Dt \(name.uppercased()) 1\n.Os Martlet \(version)\n"
        // The line of apropos(1) has neither a capital letter nor a full stop.
        let first = abstract.hasSuffix(".") ? String(abstract.dropLast()) : abstract
        text += ".Sh NAME\n.Nm \(name)\n.Nd \(Self.words(first.prefix(1).lowercased() + first.dropFirst()))\n"
    }

    mutating func add(synopsis arguments: [CommandHelp.Argument], hasCommands: Bool) {
        text += ".Sh SYNOPSIS\n.Nm \"\(path.joined(separator: " "))\"\n"
        for argument in Self.ordered(arguments) {
            let dots = argument.isRepeating ? " ..." : ""
            text += (argument.isOptional ? ".Op " : ".") + Self.form(argument) + dots + "\n"
        }
        if hasCommands { text += ".Ar command\n.Op Ar argument ...\n" }
    }

    mutating func add(description paragraphs: [String], _ arguments: [CommandHelp.Argument]) {
        text += ".Sh DESCRIPTION\n"
        for (index, paragraph) in paragraphs.flatMap({ $0.split(separator: "\n\n") }).enumerated() {
            text += (index == 0 ? "" : ".Pp\n") + Self.sentences(String(paragraph))
        }
        let shown = Self.ordered(arguments)
        guard !shown.isEmpty else { return }
        text += ".Bl -tag -width 6n\n"
        for argument in shown {
            let value = argument.defaultValue.flatMap { $0.isEmpty || $0 == "false" ? nil : " Default: \($0)." } ?? ""
            text += ".It " + Self.form(argument) + "\n" + Self.sentences((argument.abstract ?? "") + value)
        }
        text += ".El\n"
    }

    mutating func add(commands: [CommandHelp.Command]) {
        guard !commands.isEmpty else { return }
        text += ".Sh COMMANDS\n.Bl -tag -width 6n\n"
        for command in commands {
            text += ".It Xr \((path + [command.commandName]).joined(separator: "-")) 1\n"
            text += Self.sentences(command.abstract ?? "")
        }
        text += ".El\n"
    }

    mutating func addEnvironment() {
        text += ".Sh ENVIRONMENT\n.Bl -tag -width 6n\n"
        for (name, meaning) in [
            ("MARTLET_URL", "The daemon's address, or the path of its socket, as with --server."),
            ("MARTLET_TOKEN", "An access token, as with --token."),
            ("NO_COLOR", "If it is not empty, nothing is colored."), ("TERM", "If it is dumb, nothing is colored."),
        ] { text += ".It Ev \(name)\n\(Self.sentences(meaning))" }
        text += ".El\n.Sh FILES\n.Bl -tag -width 6n\n"
        for (path, meaning) in [
            ("/etc/martlet/martlet.yml", "The settings."), ("/etc/martlet/bots", "The bot files."),
            ("/run/martlet/martlet.socket", "The socket of the installed service."),
            ("/usr/share/doc/martlet", "The manual."),
        ] { text += ".It Pa \(path)\n\(Self.sentences(meaning))" }
        text += ".El\n"
    }

    mutating func add(seeAlso pages: [String]) {
        guard !pages.isEmpty else { return }
        text += ".Sh SEE ALSO\n" + pages.map { ".Xr \($0) 1\n" }.joined()
    }

    /// Options first, as users write them.
    private static func ordered(_ arguments: [CommandHelp.Argument]) -> [CommandHelp.Argument] {
        let shown = arguments.filter(\.shouldDisplay)
        return shown.filter { $0.kind != .positional } + shown.filter { $0.kind == .positional }
    }

    /// Returns an argument as macros: `Fl h , Fl -help`, `Fl -limit Ar limit`, `Ar bot`.
    private static func form(_ argument: CommandHelp.Argument) -> String {
        let value = "Ar " + words(argument.valueName ?? "value")
        guard argument.kind != .positional else { return value }
        let names = (argument.names ?? []).map { "Fl " + ($0.kind == "long" ? "-" : "") + $0.name }
        return names.joined(separator: " , ") + (argument.kind == .option ? " " + value : "")
    }

    /// Returns a text with each sentence on a line of its own, as mdoc(7) asks for.
    private static func sentences(_ text: String) -> String {
        let plain = text.split(whereSeparator: \.isWhitespace).map(String.init)
        var (lines, line): ([String], [String]) = ([], [])
        for (index, word) in plain.enumerated() {
            line.append(word)
            let next = index + 1 < plain.count ? plain[index + 1].first : nil
            if word.hasSuffix("."), let next, next.isUppercase || next == "-" || next == "`" {
                lines.append(line.joined(separator: " "))
                line = []
            }
        }
        lines.append(line.joined(separator: " "))
        return lines.filter { !$0.isEmpty }.map { line in
            // A line that begins with a dot or an apostrophe would be a request.
            (line.hasPrefix(".") || line.hasPrefix("'") ? "\\&" : "") + escaped(line) + "\n"
        }.joined()
    }

    /// Returns a text for the line of a macro, on which a word such as `In` would be a macro.
    private static func words(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).map { word in
            let isMacro = word.count <= 3 && (word.first?.isUppercase ?? false) || word.allSatisfy(\.isPunctuation)
            return (isMacro ? "\\&" : "") + escaped(String(word)).replacing("\"", with: "\\(dq")
        }.joined(separator: " ")
    }

    private static func escaped(_ text: String) -> String { text.replacing("\\", with: "\\e") }
}
