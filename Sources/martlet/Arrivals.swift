import Archives
import Basics
import Foundation
import Glibc
import Model

/// What is downloaded, in a directory of its own beside its place until all of it is checked.
struct Arrivals {
    private let above: Directory
    /// Its name in `above`.
    private let name: String
    private let directory: Directory
    /// What it becomes in `above`, when it is to become a directory.
    private let target: String
    /// Of files: as a program that knows no better makes them.
    private let mode: mode_t

    /// - Parameters:
    ///   - output: Where it is to go.
    ///   - isNew: Whether it becomes that directory; else it lies in it meanwhile.
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
            throw Failure(.cannotCreate, "nothing can be put into \(output): \(error.message)")
        }
    }

    /// Fetches what a version's directory holds beside the product's files, as far as the server has it.
    func fetchDescriptions(_ root: String, _ connection: Connection) async throws {
        for file in VersionCheck.descriptions {
            // As much as is read of each.
            let limit =
                switch file {
                case "SHA256SUMS": Checksums.maximumSize
                case "SHA256SUMS.sig": SSHSignature.maximumSize
                default: VersionManifest.maximumSize
                }
            do {
                try await fetch(file, root, connection, limit: Int64(limit))
            } catch let failure as Failure where failure.status == .notFound {
                // What has to be there, the check misses.
                continue
            }
        }
    }

    /// - Parameter bytes: Of all files together.
    /// - Throws: `Failure` where the file system has not so many: found out now, it fills no disk.
    func checkSpace(for bytes: Int64) throws {
        guard let free = FreeSpace(at: directory.path)?.bytes, free < bytes else { return }
        throw Failure(
            .cannotCreate,
            "the files have \(ByteCount(bytes)), and there are \(ByteCount(free)) free where they are to go; make room, or say "
                + "--output DIRECTORY of another file system")
    }

    /// - Parameter limit: In bytes.
    func fetch(_ file: String, _ root: String, _ connection: Connection, limit: Int64) async throws {
        try await connection.download(
            root + Escaped.segment(file), to: "\(directory.path)/\(file)", limit: limit)
    }

    func check(_ signers: AllowedSigners, part: Set<String>?) async throws -> VersionCheck {
        do throws(ArchiveError) {
            let path = directory.path
            return try await BlockingLane(label: "fetch").run { () throws(ArchiveError) in
                try VersionCheck(of: path, signers: signers, part: part)
            }
        } catch {
            throw Failure(.no, "what arrived cannot be checked: \(error.message)")
        }
    }

    /// As the sums say, which were checked.
    func digests() throws -> [String: String] {
        Checksums(try directory.read("SHA256SUMS", limit: Checksums.maximumSize))?.digests ?? [:]
    }

    /// Gives what arrived its place, and overwrites nothing.
    /// - Parameter files: Those that are put into an existing directory; nothing: all becomes a new one.
    func keep(_ files: [String]?, in output: String) throws {
        var kept: [String] = []
        do throws(FileError) {
            for entry in try directory.entries() {
                // Of FileSink's own mode until now.
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
            let there = kept.isEmpty ? "" : "; \(kept.joined(separator: ", ")) is there already, and right"
            throw Failure(.cannotCreate, "\(output) could not be filled: \(error.message)\(there)")
        }
    }

    /// Nothing of it is kept.
    func remove() {
        // Left with a name that says whose it is, at worst.
        try? above.remove(name)
    }
}
