import Basics
import Glibc

extension AttemptDirectory {
    /// A file that the supervisor copied out of the workspace.
    package struct File: Sendable, Hashable {
        /// The path relative to `artifacts/` or to the step's reports; invalid UTF-8 is replaced.
        package let path: String
        /// The exact path relative to the attempt's directory.
        package let location: [UInt8]
        /// The size in bytes.
        package let size: Int64
        package let isExecutable: Bool
    }

    /// Returns the collected files, by path; empty before the job has finished.
    /// - Throws: `.directory`.
    package func artifacts() throws(ExecutionError) -> [File] { try files(below: "artifacts") }

    /// Returns the reports of a step, by path.
    /// - Throws: `.directory`.
    package func reports(ofStep index: Int) throws(ExecutionError) -> [File] { try files(below: "reports/\(index)") }

    /// A file that is open for reading.
    package final class OpenFile: Sendable {
        /// The size in bytes when the file was opened. Bytes beyond it are not read.
        package let size: Int64
        private let descriptor: Int32
        private let path: String

        fileprivate init(_ descriptor: Int32, path: String) throws(ExecutionError) {
            var status = stat()
            let isKnown = fstat(descriptor, &status) == 0
            (self.descriptor, self.path) = (descriptor, path)
            size = isKnown ? Int64(status.st_size) : 0
            guard isKnown else {
                throw ExecutionError(.directory, "read \(path)", String(cString: strerror(errno)))
            }
        }

        deinit { close(descriptor) }

        /// Reads the next bytes, at most `count`; returns an empty array at the end.
        /// - Throws: `.directory`.
        package func read(_ count: Int) throws(ExecutionError) -> [UInt8] {
            let offset = lseek(descriptor, 0, SEEK_CUR)
            let wanted = min(count, max(0, Int(size) - max(0, Int(offset))))
            var failure: Int32 = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: wanted) { buffer, filled in
                repeat {
                    let result = Glibc.read(descriptor, buffer.baseAddress, wanted)
                    failure = result < 0 ? errno : 0
                    filled = max(0, result)
                } while failure == EINTR
            }
            guard failure == 0 else {
                throw ExecutionError(.directory, "read \(path)", String(cString: strerror(failure)))
            }
            return bytes
        }
    }

    /// Opens a file that `artifacts()` or `reports(ofStep:)` returned.
    /// - Throws: `.notFound`, `.directory`.
    package func open(_ file: File) throws(ExecutionError) -> OpenFile {
        let descriptor: Int32
        do throws(FileError) {
            descriptor = try Directory(opening: path).openForReading(file.location)
        } catch {
            throw ExecutionError(
                error.code == .notFound ? .notFound : .directory, "read \(file.path) of \(path)", error.message,
                underlying: error)
        }
        return try OpenFile(descriptor, path: "\(path)/\(file.path)")
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
