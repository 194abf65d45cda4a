import ArgumentParser
import Foundation
import Model
import Settings

/// The command `martlet lint [FILE]…`.
struct Lint: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lint",
        abstract: "Checks settings, bot files and recipes; says file:line:column and what to write instead.")

    @Argument(help: "Files; .martlet.yml here when left out.") var files: [String] = []

    func run() async throws {
        try await Failure.exiting {
            var errors = 0
            if files.isEmpty, !FileManager.default.fileExists(atPath: RecipeReader.fileName) {
                return try Self.lintWithoutRecipe(in: ".")
            }
            for file in files.isEmpty ? [RecipeReader.fileName] : files {
                let project = Self.project(of: file)
                guard let data = FileManager.default.contents(atPath: file) else {
                    throw Failure(
                        .notFound, "\(file) cannot be checked: there is no such file, or this user may not read it")
                }
                for diagnostic in Settings.Lint.file(path: file, bytes: Array(data), project: project) {
                    Output.print("\(Output.visible(diagnostic.description))\n")
                    if diagnostic.severity == .error { errors += 1 }
                }
                if let remark = Settings.Lint.remark(path: file, bytes: Array(data), project: project) {
                    Output.print("\(Output.visible("\(file): \(remark)"))\n")
                }
            }
            if errors > 0 { throw Failure(.no, errors.counting("error")) }
        }
    }

    /// Returns the project in the root of a directory; `.unknown` if the directory cannot be read.
    static func project(in directory: String) -> RecipeReader.Project {
        let files = FileManager.default
        guard let names = try? files.contentsOfDirectory(atPath: directory) else { return .unknown }
        let tree = ProjectTree(rootEntries: names.sorted()) { name in
            try? files.contentsOfDirectory(atPath: "\(directory)/\(name)")
        } text: { path, limit in
            let path = "\(directory)/\(path)"
            guard let found = try? files.attributesOfItem(atPath: path),
                found[.type] as? FileAttributeType == .typeRegular,
                let size = found[.size] as? Int, size <= limit
            else { return nil }
            return files.contents(atPath: path).map { Array($0) }
        }
        return .recognized(tree)
    }

    /// Returns the project of a recipe. A recipe with the standard name is in its repository's root; the recognized project there is printed.
    private static func project(of file: String) -> RecipeReader.Project {
        let url = URL(fileURLWithPath: file)
        guard url.lastPathComponent == RecipeReader.fileName else { return .unknown }
        let project = project(in: url.deletingLastPathComponent().path)
        if case .recognized(let recognition?, _, _) = project {
            Output.print("\(Output.visible("\(file): \(recognition.sentence)"))\n")
        }
        return project
    }

    private static func lintWithoutRecipe(in directory: String) throws {
        let project = project(in: directory)
        let reading = RecipeReader.withoutRecipe(project)
        for warning in reading.diagnostics where warning.severity == .warning {
            Output.print("\(Output.visible(warning.description))\n")
        }
        if let recognition = reading.value?.recognition {
            return Output.print("no \(RecipeReader.fileName) here: \(recognition.sentence), with its usual commands\n")
        }
        throw Failure(.no, reading.errors.first?.message ?? "nothing is recognized here")
    }
}

/// The command `martlet schema NAME`.
struct Schema: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Prints a JSON Schema, for editors: settings, bot or recipe.")

    @Argument(help: "settings, bot or recipe.", completion: .list(JSONSchemas.names)) var name: String

    func run() async throws {
        try await Failure.exiting {
            guard let schema = JSONSchemas.schema(name) else {
                throw Failure(
                    .notFound, "there is no schema \(name); write one of \(JSONSchemas.names.joined(separator: ", "))")
            }
            Output.print(schema.hasSuffix("\n") ? schema : schema + "\n")
        }
    }
}
