import ArgumentParser
import Foundation
import Glibc
import Model
import Settings

/// The command `martlet init URL`.
struct Init: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Prints a commented bot file for a repository, or with --write puts it where the daemon reads it.",
        discussion: """
            With --write the file is BOTS/NAME.yml, where BOTS is the settings' directory of bot files. It begins with the \
            line that shows editors its JSON Schema. A file that exists is never overwritten.
            """)

    @Argument(help: "The repository's URL or absolute path.") var repository: String
    @Flag(help: "Write the file, and print what comes next.") var write = false
    @Option(help: "The bot's name; the last part of the repository's address when left out.") var name: String?
    @OptionGroup var location: SettingsLocation

    func run() async throws {
        try await Failure.exiting {
            if let problem = InitTemplate.problem(with: repository) {
                throw Failure(.no, "no bot file can be made for \(repository): \(problem)")
            }
            let named = try name.map { text in
                guard let name = Name(text) else {
                    throw Failure(
                        .usage,
                        "--name \(text) cannot be a bot's name; write lower-case letters, digits, `.`, `_` and `-`, at most "
                            + "\(Name.maximumLength), with a letter or digit first")
                }
                return name
            }
            // A working tree on this machine can be read now; another repository only after it is cloned.
            var sentence: String?
            if repository.hasPrefix("/"), case .recognized(let recognition?, _, _) = Lint.project(in: repository) {
                sentence = recognition.sentence
            }
            guard write else {
                let text = InitTemplate.botFile(
                    repository: repository, name: named, schema: OwnPrograms.sharedFile(Self.schema), project: sentence)
                return Output.print(text)
            }
            guard let name = named ?? InitTemplate.name(for: repository) else {
                throw Failure(.usage, "no name can be made of \(repository) for the bot; write --name NAME")
            }
            let directory = try location.read().bots
            let text = InitTemplate.botFile(
                repository: repository, name: name, schema: try Self.schemaPath(), project: sentence)
            let path = try Self.create(text, name, in: directory)
            Output.print(Output.visible("\(path) is written. The bot's name is \(name). What comes next:") + "\n")
            Output.print(
                Output.table([
                    ["  martlet lint \(path)", "after each change of the file"],
                    ["  martlet bot \(name) --plan", "what the next push runs; the daemon reads the file within 2 s"],
                    ["  martlet webhook \(name) --forge FORGE", "how the forge announces pushes, in place of polling"],
                ]))
        }
    }

    private static let schema = JSONSchemas.fileName("bot")

    /// Returns the path of the schema: the installed one, or one that is written for this user.
    private static func schemaPath() throws -> String {
        if let installed = OwnPrograms.sharedFile(schema) { return installed }
        let environment = ProcessInfo.processInfo.environment
        var data = environment["XDG_DATA_HOME"] ?? ""
        if !data.hasPrefix("/") {
            guard let home = environment["HOME"], home.hasPrefix("/") else {
                throw Failure(
                    .configuration,
                    "the JSON Schema for editors has no place, because HOME is not set; set HOME or XDG_DATA_HOME")
            }
            data = home + "/.local/share"
        }
        let (directory, text) = (data + "/martlet", JSONSchemas.schema("bot") ?? "")
        do {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: URL(fileURLWithPath: "\(directory)/\(schema)"), options: .atomic)
        } catch {
            throw Failure(
                .cannotCreate,
                "the JSON Schema for editors cannot be written to \(directory)/\(schema): \(error.localizedDescription)"
            )
        }
        return "\(directory)/\(schema)"
    }

    /// Writes a new bot file, with its directory if that is missing.
    private static func create(_ text: String, _ name: Name, in directory: String) throws -> String {
        let path = "\(directory)/\(name).yml"
        for existing in [path, "\(directory)/\(name).yaml"] where access(existing, F_OK) == 0 {
            throw Failure(
                .cannotCreate,
                "\(existing) exists, and is not overwritten; write --name NAME for another bot of this repository")
        }
        // If it cannot be made, opening the file reports the reason.
        try? FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            let reason = String(cString: strerror(errno))
            throw Failure(
                .cannotCreate,
                "the bot file \(path) cannot be made: \(reason); run it as a user who may write there (sudo martlet init --write "
                    + "…), or name other settings with --settings FILE")
        }
        do {
            let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            try file.write(contentsOf: Data(text.utf8))
            try file.synchronize()
            try file.close()
        } catch {
            unlink(path)
            throw Failure(
                .cannotCreate,
                "the bot file \(path) cannot be written: \(error.localizedDescription); make room on its disk")
        }
        return path
    }
}
