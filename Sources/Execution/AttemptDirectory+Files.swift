import Basics

extension AttemptDirectory {
    /// A file that the supervisor copied out of the workspace.
    package struct File: Sendable, Hashable {
        /// Relative to `artifacts/` or to the step's reports; bytes that are no UTF-8 are repaired.
        package let path: String
        /// Relative to the attempt's directory, as the file system has it.
        package let location: [UInt8]
        /// In bytes.
        package let size: Int64
        package let isExecutable: Bool
    }

    /// What was collected, by path; empty before the job has finished.
    /// - Throws: `.directory`.
    package func artifacts() throws(ExecutionError) -> [File] { try files(below: "artifacts") }

    /// The reports of a step, by path.
    /// - Throws: `.directory`.
    package func reports(ofStep index: Int) throws(ExecutionError) -> [File] { try files(below: "reports/\(index)") }

    /// The content of a file that `artifacts()` or `reports(ofStep:)` listed.
    /// - Parameter limit: A larger file is refused.
    /// - Throws: `.notFound`, `.directory`.
    package func read(_ file: File, limit: Int) throws(ExecutionError) -> [UInt8] {
        do throws(FileError) {
            return try Directory(opening: path).read(file.location, limit: limit)
        } catch {
            throw ExecutionError(
                error.code == .notFound ? .notFound : .directory, "read \(file.path) of \(path)", error.message,
                underlying: error)
        }
    }

    private func files(below place: String) throws(ExecutionError) -> [File] {
        do {
            let directory = try Directory(opening: path)
            guard try directory.status(place) != nil else { return [] }
            var files: [File] = []
            try directory.walk(place, limit: 1_000_000) { location, status in
                guard status.kind == .file else { return }
                files.append(
                    File(
                        path: String(decoding: location.dropFirst(place.utf8.count + 1), as: UTF8.self),
                        location: location, size: status.size, isExecutable: status.mode & 0o100 != 0))
            }
            return files
        } catch {
            throw ExecutionError(.directory, "list \(place) of \(path)", "\(error)", underlying: error)
        }
    }
}
