import Basics
import Foundation
package import Testing

/// The project's directory, found from the place of this file. Links are resolved, since a build may reach the sources through one.
package enum Project {
    /// The directory of `Package.swift`.
    package static var root: String {
        URL(fileURLWithPath: "\(#filePath)").resolvingSymlinksInPath()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path
    }
}

/// Real outputs and hostile inputs, kept in `../shared/corpus` beside the project.
package enum Corpus {
    package struct File: Sendable, CustomTestStringConvertible {
        /// The path below the corpus.
        package let name: String
        package let path: String

        /// Reads the file, at most 64 MiB.
        package func bytes() throws -> [UInt8] { try WholeFile.read(path, limit: 64 << 20) }
        package func text() throws -> String { String(decoding: try bytes(), as: UTF8.self) }
        package var testDescription: String { name }
    }

    package static var directory: String {
        URL(fileURLWithPath: Project.root).deletingLastPathComponent().path + "/shared/corpus"
    }

    package static var isPresent: Bool { FileManager.default.fileExists(atPath: directory) }

    /// Returns all regular files below a folder of the corpus, sorted. Without the corpus there are none: mark the test `.corpus`, so that it is
    /// skipped.
    /// - Parameter suffix: The suffix of the names; all files without one.
    package static func files(_ folder: String, suffix: String = "") -> [File] {
        var found: [File] = []
        guard let corpus = try? Directory(opening: directory) else { return [] }  // Absent, as said above.
        do {
            try corpus.walk(folder, limit: 100_000) { path, status in
                let name = String(decoding: path, as: UTF8.self)
                if status.kind == .file, name.hasSuffix(suffix) {
                    found.append(File(name: name, path: directory + "/" + name))
                }
            }
        } catch {
            Issue.record(error, "the corpus cannot be read")
        }
        return found
    }

    /// Returns one file of the corpus.
    package static func file(_ name: String) -> File { File(name: name, path: directory + "/" + name) }
}

extension Trait where Self == ConditionTrait {
    /// Skips the test, with that reason, if the corpus is absent.
    package static var corpus: Self { .enabled(if: Corpus.isPresent, "there is no corpus beside the project") }

    /// Skips the test, with that reason, if a program is not installed.
    package static func program(_ name: String) -> Self {
        .enabled("\(name) is not installed") { TestTools.find(name) != nil }
    }
}
