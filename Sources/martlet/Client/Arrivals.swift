import Archives
import Basics
import Dispatch
import Encodings
import Foundation
import Glibc
import Model
import Releases

/// A directory of downloads beside their destination, where they stay until all of them are verified.
struct Arrivals {
    private let above: Directory
    /// The name of the directory in `above`.
    private let name: String
    private let directory: Directory
    /// The name that the directory gets in `above`, if it becomes the destination.
    private let target: String
    /// The mode of kept files: 0666 without the process's umask.
    private let mode: mode_t

    /// Creates the directory.
    /// - Parameters:
    ///   - output: The path of the destination.
    ///   - isNew: Whether the directory becomes the destination. Otherwise it is created inside the existing destination.
    /// - Throws: `Failure` if it cannot be created.
    init(beside output: String, isNew: Bool) throws {
        let trimmed = output.count > 1 && output.hasSuffix("/") ? String(output.dropLast()) : output
        let slash = trimmed.lastIndex(of: "/")
        target = slash.map { String(trimmed[trimmed.index(after: $0)...]) } ?? trimmed
        let parent = slash.map { $0 == trimmed.startIndex ? "/" : String(trimmed[..<$0]) } ?? "."
        name = ".martlet-\(RandomIdentifiers().next())"
        let mask = umask(0o022)
        umask(mask)
        mode = 0o666 & ~mask
        do throws(FileError) {
            above = try Directory(creating: isNew ? parent : output)
            try above.makeDirectories(name, mode: 0o755)
            directory = try above.directory(name)
        } catch {
            throw Failure(
                .cannotCreate,
                "the downloads cannot be put into \(output): \(error.message); make it writable, or write --output DIRECTORY"
            )
        }
    }

    /// Downloads a version's description files, as far as the server has them.
    func fetchDescriptions(_ root: String, _ connection: Connection) async throws {
        for file in VersionCheck.descriptions {
            // The largest size that the verification reads of each.
            let limit =
                switch file {
                case "SHA256SUMS": Checksums.maximumSize
                case "SHA256SUMS.sig": SSHSignature.maximumSize
                default: VersionManifest.maximumSize
                }
            do {
                try await fetch(file, root, connection, limit: Int64(limit))
            } catch let failure as Failure where failure.status == .notFound {
                // If the file is required, the verification reports that it is missing.
                continue
            }
        }
    }

    /// Checks that the file system has enough free space, before the download fills it.
    /// - Parameter bytes: The size of all files together.
    /// - Throws: `Failure` if there is less free space.
    func checkSpace(for bytes: Int64) throws {
        guard let free = FreeSpace(at: directory.path)?.bytes, free < bytes else { return }
        throw Failure(
            .cannotCreate,
            "the download needs \(ByteCount(bytes)), and only \(ByteCount(free)) are free at \(above.path); make room, or write "
                + "--output DIRECTORY of another file system")
    }

    /// Downloads a file.
    /// - Parameters:
    ///   - root: The path of the version on the server, with a slash at its end.
    ///   - limit: The largest size of the file, in bytes.
    func fetch(_ file: String, _ root: String, _ connection: Connection, limit: Int64) async throws {
        try await connection.download(
            root + PercentEncoding.encode(file), to: "\(directory.path)/\(file)", limit: limit)
    }

    func check(_ signers: AllowedSigners, part: Set<String>?) async throws -> VersionCheck {
        do throws(ArchiveError) {
            let path = directory.path
            return try await SerialQueue(label: "fetch").run { () throws(ArchiveError) in
                try VersionCheck(of: path, signers: signers, part: part)
            }
        } catch {
            throw Failure(.no, "the downloaded files cannot be verified: \(error.message); fetch them again")
        }
    }

    /// Returns the digests of the verified SHA256SUMS.
    func digests() throws -> [String: String] {
        Checksums(try directory.read("SHA256SUMS", limit: Checksums.maximumSize))?.digests ?? [:]
    }

    /// Moves the downloads to their destination without overwriting any file.
    /// - Parameter files: The files to move into an existing directory; `nil`: the whole directory becomes the destination.
    func move(_ files: [String]?, in output: String) throws {
        var kept: [String] = []
        do throws(FileError) {
            for entry in try directory.entries() {
                // Until now the files have the mode of `FileSink`.
                guard chmod("\(directory.path)/\(entry.name)", mode) == 0 else {
                    throw FileError(operation: "chmod", path: entry.name, errno: errno)
                }
            }
            try directory.synchronizeTree()
            if let files {
                for file in files {
                    try directory.rename(file, to: above, file, replace: false)
                    kept.append(file)
                }
                try above.remove(name)
            } else {
                try above.rename(name, to: above, target, replace: false)
            }
            try above.synchronize()
        } catch {
            let there =
                kept.isEmpty ? "" : "; of the verified files, these are there already: \(kept.joined(separator: ", "))"
            throw Failure(
                .cannotCreate, "the verified files could not be moved into \(output): \(error.message)\(there)")
        }
    }

    /// Removes the directory with all downloads.
    func remove() {
        // If this fails, the name of the remaining directory identifies its origin.
        try? above.remove(name)
    }
}

/// Runs a closure before SIGINT or SIGTERM ends the program.
final class TerminationHandler {
    private let sources: [any DispatchSourceSignal]

    init(_ body: @escaping @Sendable () -> Void) {
        let queue = DispatchQueue(label: "termination")
        sources = [SIGINT, SIGTERM].map { number in
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler {
                body()
                // The exit status is that of shells.
                _exit(128 + number)
            }
            source.resume()
            return source
        }
    }

    /// Stops handling the signals.
    func end() {
        for source in sources { source.cancel() }
    }
}
