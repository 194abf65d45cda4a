package import Basics
import Glibc

/// An uploader of files to another place. Each file arrives completely or not at all.
///
/// By http(s), sftp and ftp(s), it does the following:
///
/// 1. It reads each target. The same bytes are a success, other bytes an error; an existing file is never overwritten.
/// 2. It writes each file beside its target as `.NAME.part-ID`, reads it back, and compares size and SHA-256. If they differ, the file is sent once
///    more before the upload fails.
/// 3. When all parts are there, it moves them to their names in the given order, without overwriting. Each target is read once more directly before.
///
/// The move is WebDAV's `MOVE` with `Overwrite: F`, sftp's `rename`, which OpenSSH never does over an existing file, or ftp's `RNFR` and `RNTO`,
/// which vsftpd does over any file. If the server renames over existing files, another client could write between the check and the move. If the
/// answer to a move is lost, the target is read; the right bytes are a success.
///
/// A web server without MOVE (405, 501) gets a `PUT` to the name itself, which is also read back. HTTP servers ignore `If-None-Match: *` on PUT
/// (nginx 1.22 does), but it is sent. What an interrupted `PUT` left is overwritten by the next try. Wrong bytes under a name are removed only if
/// this upload provably wrote them.
///
/// In a local directory (`/absolute/path` or `file:///…`) a file is written beside its target, synchronized, and renamed without replacing. For a
/// bucket (`s3://…`) see `S3Upload`.
///
/// An interrupted upload is tried again; see `UploadRetries`. sftp and ftp continue where they stopped, a multipart upload sends the missing parts,
/// and a web server gets the whole file again.
package struct Uploader: Sendable {
    let transport: any Transport
    let identifiers: any IdentifierSource
    let queue: SerialQueue
    /// The current time in seconds since 1970, for signatures.
    let now: @Sendable () -> Int64

    /// How often a file is sent if other bytes arrive than were sent.
    package static let attempts = 2

    package init(
        transport: any Transport, identifiers: any IdentifierSource = RandomIdentifiers(),
        now: @escaping @Sendable () -> Int64 = { Int64(time(nil)) }
    ) {
        self.transport = transport
        self.identifiers = identifiers
        self.now = now
        queue = SerialQueue(label: "upload")
    }

    /// Uploads all files.
    /// - Parameters:
    ///   - template: The target; see `UploadTemplate`. Without `{file}` it is a directory, to which the names are appended.
    ///   - values: The values of its placeholders, except `file`.
    /// - Returns: One result per file, in the given order.
    /// - Throws: The first failure. The parts are then removed as long as the server answers. Files that were moved before stay, and another upload
    ///   continues from there. If it is canceled, the parts of a session stay: see `discard`.
    package func upload(
        _ files: [UploadFile], to template: String, values: [String: String] = [:],
        options: UploadOptions = UploadOptions()
    ) async throws(TransferError) -> [UploadResult] {
        let targets = try self.targets(files, template, values, options)
        if let twice = Dictionary(grouping: targets, by: \.url).values.first(where: { $0.count > 1 })?.first {
            throw TransferError(
                code: .invalid, operation: "upload to \(twice.shown)",
                message: "several files would get this name; put {file} or {configuration} into the target")
        }
        guard let first = targets.first else { return [] }
        let method = self.method(first, options)
        var staged: [(target: UploadTarget, part: String?)] = []
        do throws(TransferError) {
            for target in targets { staged.append((target, try await method.stage(target))) }
            var results: [UploadResult] = []
            for index in staged.indices {
                let (target, part) = staged[index]
                if let part { try await method.commit(target, part: part) }
                staged[index].part = nil
                results.append(
                    UploadResult(
                        name: target.file.name, url: target.shown, outcome: part == nil ? .alreadyThere : .uploaded))
            }
            return results
        } catch {
            if !(error.code == .canceled && options.session != nil) {
                for case (let target, let part?) in staged {
                    guard await method.discard(target, part: part) else { break }
                }
            }
            throw error
        }
    }

    /// Removes the parts of an upload of the session in `options` that was canceled or whose process ended. Stops when the server does not answer.
    /// Parts that the server does not remove stay.
    package func discard(
        _ files: [UploadFile], to template: String, values: [String: String] = [:], options: UploadOptions
    ) async {
        // Invalid addresses cannot have left any parts.
        guard let targets = try? self.targets(files, template, values, options), let first = targets.first else {
            return
        }
        let method = self.method(first, options)
        for target in targets {
            for part in await method.leftParts(target) {
                guard await method.discard(target, part: part) else { return }
            }
        }
    }

    private func targets(
        _ files: [UploadFile], _ template: String, _ values: [String: String], _ options: UploadOptions
    ) throws(TransferError) -> [UploadTarget] {
        var targets: [UploadTarget] = []
        for (index, file) in files.enumerated() {
            targets.append(
                try UploadTarget(
                    file, template: template, values: values, number: index + 1, count: files.count,
                    tell: options.progress))
        }
        return targets
    }

    private func method(_ target: UploadTarget, _ options: UploadOptions) -> any UploadMethod {
        switch target.place {
        case .local:
            LocalUpload(queue: SerialQueue(label: "upload-local"), identifiers: identifiers, session: options.session)
        case .remote: RemoteUpload(transport: transport, identifiers: identifiers, options: options, queue: queue)
        case .bucket(let bucket):
            S3Upload(
                client: S3Client(transport: transport, options: options, bucket: bucket, now: now), options: options,
                queue: queue)
        }
    }
}

/// The three steps of an upload, for one kind of target.
protocol UploadMethod: Sendable {
    /// Writes the file to a temporary part beside its target, and reads it back.
    /// - Returns: The part's URL, path or name; `nil` if the target already holds the same bytes.
    func stage(_ target: UploadTarget) async throws(TransferError) -> String?
    /// Moves the part to its final name. Never replaces a file that it can see: the target is checked directly before.
    func commit(_ target: UploadTarget, part: String) async throws(TransferError)
    /// Removes a part. Errors are ignored, because the upload has failed already.
    /// - Returns: Whether the server answered. If not, the caller does not ask for the next part.
    @discardableResult
    func discard(_ target: UploadTarget, part: String) async -> Bool
    /// Returns the parts that an upload of the same session may have left beside a target.
    func leftParts(_ target: UploadTarget) async -> [String]
}
