import Basics
import Glibc
import Synchronization

/// An upload method for a directory of this machine, such as a mounted share.
struct LocalUpload: UploadMethod {
    /// The queue of this upload alone, so that a share whose server is down delays no other upload.
    let queue: SerialQueue
    let identifiers: any IdentifierSource
    let session: String?

    /// The size limit of a file in bytes: 1 TiB. It guards against a wrong size, not against large files.
    static let maximumSize: Int64 = 1 << 40

    func stage(_ target: UploadTarget) async throws(TransferError) -> String? {
        let identifier = session ?? identifiers.next()
        let (course, size) = (target.course, target.file.size)
        course.say(.looking, UploadTries())
        return try await onQueue(target) { directory, name, goesOn throws(FileError) in
            let part = UploadTarget.partName(name[...], identifier)
            // The part is from a killed try of this session. It may also be a second name of the target; see
            // `Directory.moveOntoNothing`.
            if session != nil, try directory.status(part) != nil { try directory.remove(part) }
            if let isSame = try holds(directory, name, target.file) {
                guard isSame else { throw FileError(code: .exists, operation: "upload", path: name, message: "") }
                return nil
            }
            let source = try Self.parent(of: target.file.path)
            do throws(FileError) {
                _ = try source.directory.copyFile(
                    source.name, to: directory, part, limit: Self.maximumSize, isBeside: false
                ) { copied in
                    course.say(.sending, bytes: copied, UploadTries())
                    return goesOn()
                }
                try directory.synchronizeFile(part)
                course.say(.readingBack, bytes: size, UploadTries())
                guard try holds(directory, part, target.file) == true else {
                    throw FileError(
                        code: .other, operation: "upload", path: name,
                        message: "other bytes were read back than were sent; look at the disk")
                }
            } catch {
                // The first error is more useful.
                try? directory.remove(part)
                throw error
            }
            return part
        }
    }

    func commit(_ target: UploadTarget, part: String) async throws(TransferError) {
        target.course.say(.moving, bytes: target.file.size, UploadTries())
        try await onQueue(target) { directory, name, _ throws(FileError) in
            do throws(FileError) {
                try directory.rename(part, to: directory, name, replace: false)
            } catch {
                guard error.code == .exists, try holds(directory, name, target.file) == true else { throw error }
                try directory.remove(part)
            }
            try directory.synchronize()
        }
    }

    @discardableResult
    func discard(_ target: UploadTarget, part: String) async -> Bool {
        // Errors are ignored, because the upload has failed already. The part's name identifies it.
        try? await onQueue(target) { directory, _, _ throws(FileError) in try directory.remove(part) }
        return true
    }

    func leftParts(_ target: UploadTarget) async -> [String] {
        guard let session else { return [] }
        let begin = target.url.lastIndex(of: "/").map { target.url.index(after: $0) } ?? target.url.startIndex
        return [UploadTarget.partName(target.url[begin...], session)]
    }

    private func onQueue<Value: Sendable>(
        _ target: UploadTarget,
        _ body: @escaping @Sendable (Directory, String, _ goesOn: () -> Bool) throws(FileError) -> Value
    ) async throws(TransferError) -> Value {
        let operation = "upload to \(target.shown)"
        let cancellation = CancellationFlag()
        let result: Result<Value, FileError> = await withTaskCancellationHandler {
            await queue.run {
                Result { () throws(FileError) in
                    let path = target.url
                    let slash = path.lastIndex(of: "/") ?? path.startIndex
                    let directory = try Directory(
                        creating: slash == path.startIndex ? "/" : String(path[..<slash]), readsSecondNames: true)
                    return try body(directory, String(path[path.index(after: slash)...])) { !cancellation.isSet }
                }
            }
        } onCancel: {
            cancellation.set()
        }
        do throws(FileError) {
            return try result.get()
        } catch {
            if cancellation.isSet {
                throw TransferError(
                    code: .canceled, operation: operation, message: "it was canceled", underlying: error)
            }
            guard error.code == .exists else {
                throw TransferError(code: .file, operation: operation, message: "\(error)", underlying: error)
            }
            throw TransferError(
                code: .exists, operation: operation,
                message: UploadMessage.exists, underlying: error)
        }
    }

    /// Returns whether a file has the expected bytes; `nil` if it does not exist.
    private func holds(_ directory: Directory, _ name: String, _ file: UploadFile) throws(FileError) -> Bool? {
        guard let status = try directory.status(name) else { return nil }
        guard status.kind == .file, status.size == file.size else { return false }
        return try Digest.sha256(of: name, in: directory).sha256 == file.sha256
    }

    private static func parent(of path: String) throws(FileError) -> (directory: Directory, name: String) {
        guard let slash = path.lastIndex(of: "/") else {
            return (try Directory(opening: ".", readsSecondNames: true), path)
        }
        let above = slash == path.startIndex ? "/" : String(path[..<slash])
        return (try Directory(opening: above, readsSecondNames: true), String(path[path.index(after: slash)...]))
    }
}

/// A cancellation request for a thread that does not know the task.
private final class CancellationFlag: Sendable {
    private let flag = Atomic(false)

    var isSet: Bool { flag.load(ordering: .relaxed) }

    func set() { flag.store(true, ordering: .relaxed) }
}

extension Directory {
    /// Writes one file to the disk (fsync(2)).
    fileprivate func synchronizeFile(_ name: String) throws(FileError) {
        let descriptor = try openForReading(name)
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw FileError(operation: "fsync", path: name, errno: errno) }
    }
}
