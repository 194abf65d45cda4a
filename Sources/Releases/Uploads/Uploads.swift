import Basics
import Foundation
import Glibc
package import Model
package import Settings
import Synchronization
package import Transfer

/// Sends an integration's files to the destination of an upload trigger.
package struct Uploads: Sendable {
    /// The progress of running uploads.
    package let board = UploadBoard()
    private let uploader: Uploader
    private var secrets: SecretStore
    private let retries: UploadRetries
    private let queue = SerialQueue(label: "upload-secrets")

    package init(uploader: Uploader, secrets: SecretStore, retries: UploadRetries = UploadRetries()) {
        self.uploader = uploader
        self.secrets = secrets
        self.retries = retries
    }

    /// Returns a copy with these secrets.
    package func with(_ secrets: SecretStore) -> Uploads {
        var uploads = self
        uploads.secrets = secrets
        return uploads
    }

    /// A file to send.
    package struct File: Sendable {
        package var path: String
        package var artifact: Artifact

        package init(path: String, artifact: Artifact) {
            self.path = path
            self.artifact = artifact
        }
    }

    /// The files to send, their destination, and the trigger that sends them.
    package struct Shipment: Sendable {
        package var files: [File]
        /// The trigger's URL.
        package var template: String
        /// The values of the `{names}` in the URL, except two: `{file}` is each file's own name, and `{configuration}` is the archived one, the same
        /// for all files.
        package var values: [String: String]
        /// The name of a secret, or `nil`. Its value is `user:password`, for sftp a private key, for S3 `ACCESSKEY:SECRET`. The secret of the same
        /// name with the suffix `-known-hosts` contains the host keys of an sftp server.
        package var credentials: String?
        package var integration: IntegrationID
        package var trigger: Name
        /// The absolute directory for what the next daemon must know about the upload; `nil` if it is not to be stored.
        package var notes: String?

        package init(
            files: [File], template: String, values: [String: String], credentials: String?, integration: IntegrationID,
            trigger: Name, notes: String? = nil
        ) {
            self.files = files
            self.template = template
            self.values = values
            self.credentials = credentials
            self.integration = integration
            self.trigger = trigger
            self.notes = notes
        }

        fileprivate var uploadFiles: [UploadFile] {
            files.map {
                UploadFile(
                    path: $0.path, name: $0.artifact.path, sha256: $0.artifact.sha256, size: $0.artifact.size.bytes)
            }
        }

        fileprivate var allValues: [String: String] {
            // Only one configuration archives, so all files have the same value. The source archive has no configuration and is sent with them.
            values.merging(
                ["configuration": files.lazy.compactMap(\.artifact.configuration).first?.description ?? ""]
            ) { _, new in new }
        }

        /// A name that is the same in each run of this trigger for this integration, and different for others. With it the next daemon finds the
        /// partial files that this one left.
        fileprivate var session: String {
            UploadOptions.session(
                of: [integration.description, trigger.description, template, values["commit"] ?? ""])
        }
    }

    /// Sends the files.
    /// - Parameter onChange: Called when viewers should be notified, on threads of the transport. Its argument is the reason if a try was
    ///   interrupted, and `nil` otherwise.
    /// - Returns: A sentence for users about the number of files that arrived.
    /// - Throws: `TriggerError`, `TransferError`, `SettingsError`.
    package func send(
        _ shipment: Shipment, onChange: @escaping @Sendable (_ interruption: String?) -> Void = { _ in }
    ) async throws -> String {
        var options: UploadOptions = try await queue.run { try self.options(shipment) }
        let (id, trigger, board) = (shipment.integration, shipment.trigger, board)
        let interruptions = Interruptions()
        options.progress = { progress in
            let isNews = board.record(progress, integration: id, trigger: trigger)
            if progress.phase == .waiting {
                interruptions.add()
                onChange(progress.interruption)
            } else if isNews {
                onChange(nil)
            }
        }
        defer { board.end(integration: id, trigger: trigger) }
        let results = try await uploader.upload(
            shipment.uploadFiles, to: shipment.template, values: shipment.allValues, options: options)
        let already = results.count { $0.outcome == .alreadyThere }
        return "uploaded " + (results.count - already).counting("file")
            + (already == 0 ? "" : ", \(already) were there already")
            + (interruptions.count == 0 ? "" : "; interrupted and tried again \(interruptions.count.counting("time"))")
    }

    /// Removes the partial files that an upload canceled by a user left at the destination. A server that does not answer within seconds is not tried
    /// again.
    package func discard(_ shipment: Shipment) async {
        // Without the secret no file was sent, either.
        guard var options = try? await queue.run({ try self.options(shipment) }) else { return }
        options.limits = TransferLimits(connect: .seconds(3), total: .seconds(10))
        await uploader.discard(
            shipment.uploadFiles, to: shipment.template, values: shipment.allValues, options: options)
    }

    /// The time limits of `probe`.
    package static let probeLimits = TransferLimits(connect: .seconds(10), total: .seconds(20), stall: .seconds(15))

    /// Asks whether the destination of a trigger can be reached with its credentials. Nothing is sent there.
    /// - Parameters:
    ///   - template: The trigger's URL.
    ///   - credentials: The name of the trigger's secret; `nil` for none.
    /// - Throws: `TriggerError`, `TransferError`, `SettingsError`.
    package func probe(_ template: String, credentials: String?) async throws {
        var options: UploadOptions = try await queue.run { try self.options(template, credentials: credentials) }
        options.limits = Self.probeLimits
        try await uploader.probe(template, options: options)
    }

    /// Returns the place of a trigger's URL for messages: without placeholders, user, password and query.
    package static func place(of template: String) -> String { Uploader.place(of: template) }

    private func options(_ shipment: Shipment) throws -> UploadOptions {
        var options = try options(shipment.template, credentials: shipment.credentials)
        options.session = shipment.session
        options.memory = shipment.notes.map(UploadNotes.init)
        return options
    }

    private func options(_ template: String, credentials: String?) throws -> UploadOptions {
        let template = template.lowercased()
        var options = UploadOptions()
        options.retries = retries
        // The operator wrote the URL, so an unencrypted one is intended; the bot file must contain `insecure: true` for it.
        let isBucket = template.hasPrefix("s3:")
        options.isPlainHTTPAllowed = template.hasPrefix("http:") || template.hasPrefix("ftp:") || isBucket
        guard let name = credentials else { return options }
        guard let secret = try secrets.value(name) else {
            throw TriggerError("the secret \(name) is not set; set it with `martlet secret set \(name)`")
        }
        if isBucket {
            options.credentials = try TransferCredentials(accessKeyAndSecret: secret, name: name)
        } else {
            options.credentials = TransferCredentials(secret: secret, file: try secrets.file(name))
        }
        if template.hasPrefix("sftp:") {
            guard let knownHosts = try secrets.file("\(name)-known-hosts") else {
                throw TriggerError(
                    "the secret \(name)-known-hosts is not set: the server's line of known_hosts (ssh-keyscan -t ed25519 "
                        + "HOST, once checked); without it Martlet trusts no host")
            }
            options.knownHosts = knownHosts
        }
        return options
    }
}

extension TransferCredentials {
    /// Splits the text at its last colon. An access key can contain one (OpenStack's `test:tester`); a secret of AWS's kind never does.
    fileprivate init(accessKeyAndSecret text: String, name: String) throws {
        let line = text.trimmingCharacters(in: .newlines)
        guard let colon = line.lastIndex(of: ":"), colon != line.startIndex else {
            throw TriggerError(
                "the secret \(name) is not of the form ACCESSKEY:SECRET, which an S3 server needs; set it with `martlet secret set \(name)`"
            )
        }
        self = .password(user: String(line[..<colon]), password: String(line[line.index(after: colon)...]))
    }
}

/// A counter for threads of the transport.
private final class Interruptions: Sendable {
    private let state = Mutex(0)

    var count: Int { state.withLock { $0 } }

    func add() { state.withLock { $0 += 1 } }
}

/// Stores what the uploads of one trigger must know after a restart. There is a small file for each destination, in a directory of the integration's.
struct UploadNotes: UploadStateStore {
    /// The absolute path. It is created with the first file, and removed with the last.
    let directory: String
    private let queue = SerialQueue(label: "upload-notes")
    /// The largest size of a file, in bytes. It has a line of about 100 bytes for each of up to 1000 parts.
    private static let limit = 256 << 10

    init(directory: String) { self.directory = directory }

    func load(_ place: String) async -> String? {
        let (path, limit) = (path(place), Self.limit)
        return await queue.run {
            guard let bytes = try? WholeFile.read(path, limit: limit) else { return nil }
            return String(validating: bytes, as: UTF8.self)
        }
    }

    func save(_ text: String?, of place: String) async {
        let (path, directory) = (path(place), directory)
        await queue.run {
            if let text {
                // If the disk is full, the next process starts the upload again. This process is not affected.
                guard (try? Directory(creating: directory, mode: 0o700)) != nil else { return }
                try? AtomicFile.write(Array(text.utf8), to: path, mode: 0o600)
            } else if unlink(path) == 0 {
                rmdir(directory)
            }
        }
    }

    private func path(_ place: String) -> String { "\(directory)/\(UploadOptions.session(of: [place]))" }
}
