import ArgumentParser
import Foundation
import Settings

/// `martlet lint [FILE]…`.
struct Lint: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Checks settings, bot files and recipes; says file:line:column and what to write instead.")

    @Argument(help: "Files; .martlet.yml here when left out.") var files: [String] = []

    func run() async throws {
        try await Failure.exiting {
            var errors = 0
            for file in files.isEmpty ? [".martlet.yml"] : files {
                guard let data = FileManager.default.contents(atPath: file) else {
                    throw Failure(.notFound, "\(file) cannot be read")
                }
                for diagnostic in Settings.Lint.file(path: file, bytes: Array(data)) {
                    Output.print("\(Output.visible(diagnostic.description))\n")
                    if diagnostic.severity == .error { errors += 1 }
                }
            }
            if errors > 0 { throw Failure(.no, "\(errors) error\(errors == 1 ? "" : "s")") }
        }
    }
}

/// `martlet init URL`.
struct Init: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Prints a commented bot file for a repository.")

    @Argument(help: "The repository's URL or absolute path.") var repository: String

    func run() async throws {
        try await Failure.exiting {
            if let problem = InitTemplate.problem(with: repository) { throw Failure(.no, problem) }
            Output.print(InitTemplate.botFile(repository: repository))
        }
    }
}

/// `martlet schema NAME`.
struct Schema: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints a JSON Schema, for editors: settings, bot or recipe.")

    @Argument(help: "settings, bot or recipe.") var name: String

    func run() async throws {
        try await Failure.exiting {
            guard let schema = JSONSchemas.schema(name) else {
                throw Failure(
                    .notFound, "there is no schema \(name); there are \(JSONSchemas.names.joined(separator: ", "))")
            }
            Output.print(schema.hasSuffix("\n") ? schema : schema + "\n")
        }
    }
}
