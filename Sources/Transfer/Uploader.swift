package import Basics

/// Brings files to another place, each whole or not at all.
///
/// By http(s) and sftp, for each file: what is at the target is read first; the same bytes are success, others an error, and
/// nothing is ever overwritten. Then it is written beside as `.NAME.part-ID`, read back, and size and SHA-256 compared; bytes that
/// differ are sent once more, then it is an error. Only when all files are there they are moved to their names, in the order
/// given, without overwriting (WebDAV `MOVE` with `Overwrite: F`; sftp `rename`, which OpenSSH never does over something). When
/// the answer to a move is lost, the target is read: the right bytes there are success. A web server without MOVE (405, 501)
/// gets a `PUT` to the name itself, read back too; between looking and writing another could write there, since HTTP servers
/// ignore `If-None-Match: *` on PUT (nginx 1.22 does; it is sent all the same).
///
/// A local directory (`/absolute/path` or `file:///…`): written beside, synchronized, renamed without replacing.
package struct Uploader: Sendable {
    let transport: any Transport
    let identifiers: any IdentifierSource
    let lane: BlockingLane

    /// How often a file is sent when other bytes arrive than were sent.
    package static let attempts = 2

    package init(transport: any Transport, identifiers: any IdentifierSource = RandomIdentifiers()) {
        self.transport = transport
        self.identifiers = identifiers
        lane = BlockingLane(label: "upload")
    }

    /// Uploads all files.
    /// - Parameters:
    ///   - template: Read by `UploadTemplate`. Without `{file}` it is a directory and the names are appended.
    ///   - values: For its placeholders, except `file`.
    /// - Returns: One result a file, in the order given.
    /// - Throws: The first failure; parts beside are then removed as far as the server still answers. Files moved before it
    ///   stay, and uploading again goes on from there.
    package func upload(
        _ files: [UploadFile], to template: String, values: [String: String] = [:],
        options: UploadOptions = UploadOptions()
    ) async throws(TransferError) -> [UploadResult] {
        var targets: [UploadTarget] = []
        for file in files { targets.append(try UploadTarget(file, template: template, values: values)) }
        if let twice = Dictionary(grouping: targets, by: \.url).values.first(where: { $0.count > 1 })?.first {
            throw TransferError(
                code: .invalid, operation: "upload to \(twice.shown)",
                message: "several files would get this name; put {file} or {configuration} into the target")
        }
        let method: any UploadMethod =
            targets.first?.localPath != nil
            ? LocalUpload(lane: lane, identifiers: identifiers)
            : RemoteUpload(transport: transport, identifiers: identifiers, options: options)
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
            for case (let target, let part?) in staged { await method.discard(target, part: part) }
            throw error
        }
    }
}
