package import Basics
import Glibc

/// Brings files to another place, each whole or not at all.
///
/// By http(s), sftp and ftp(s), for each file: what is at the target is read first; the same bytes are success, others an error, and
/// nothing is ever overwritten. Then it is written beside as `.NAME.part-ID`, read back, and size and SHA-256 compared; bytes that
/// differ are sent once more, then it is an error. Only when all files are there they are moved to their names, in the order
/// given, without overwriting (WebDAV `MOVE` with `Overwrite: F`; sftp `rename`, which OpenSSH never does over something; ftp
/// `RNFR` and `RNTO`, which vsftpd does over anything). Each target is read once more right before: between the two another could
/// write there where the server renames over. When the answer to a move is lost, the target is read: the right bytes there are
/// success. A web server without MOVE (405, 501) gets a `PUT` to the name itself, read back too; HTTP servers ignore
/// `If-None-Match: *` on PUT (nginx 1.22 does; it is sent all the same). What a broken `PUT` left of the file is written over
/// by the next try. Wrong bytes under a name are removed only where they are provably what this upload wrote.
///
/// A local directory (`/absolute/path` or `file:///…`): written beside, synchronized, renamed without replacing. A bucket
/// (`s3://…`): see `S3Upload`.
///
/// What breaks off is tried again, see `UploadRetries`: sftp and ftp go on where it broke off, a multipart upload with the parts that are
/// missing, a web server gets the file anew.
package struct Uploader: Sendable {
    let transport: any Transport
    let identifiers: any IdentifierSource
    let lane: BlockingLane
    /// Seconds since 1970, for signatures.
    let now: @Sendable () -> Int64

    /// How often a file is sent when other bytes arrive than were sent.
    package static let attempts = 2

    package init(
        transport: any Transport, identifiers: any IdentifierSource = RandomIdentifiers(),
        now: @escaping @Sendable () -> Int64 = { Int64(time(nil)) }
    ) {
        self.transport = transport
        self.identifiers = identifiers
        self.now = now
        lane = BlockingLane(label: "upload")
    }

    /// Uploads all files.
    /// - Parameters:
    ///   - template: Read by `UploadTemplate`. Without `{file}` it is a directory and the names are appended.
    ///   - values: For its placeholders, except `file`.
    /// - Returns: One result a file, in the order given.
    /// - Throws: The first failure; parts beside are then removed as far as the server still answers. Files moved before it
    ///   stay, and uploading again goes on from there. When it is canceled, the parts of a session stay: see `discard`.
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

    /// Removes what an upload of the options' session that was canceled, or whose process ended, left beside; what the server does not
    /// let go stays, and all that is left once it does not answer.
    package func discard(
        _ files: [UploadFile], to template: String, values: [String: String] = [:], options: UploadOptions
    ) async {
        // Addresses that cannot be read left nothing anywhere.
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
            LocalUpload(lane: BlockingLane(label: "upload-local"), identifiers: identifiers, session: options.session)
        case .remote: RemoteUpload(transport: transport, identifiers: identifiers, options: options, lane: lane)
        case .bucket(let bucket):
            S3Upload(
                client: S3Client(transport: transport, options: options, bucket: bucket, now: now), options: options,
                lane: lane)
        }
    }
}
