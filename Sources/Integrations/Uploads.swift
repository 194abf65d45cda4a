import Basics
package import Model
package import Settings
package import Transfer

/// Sends an integration's files to where an upload trigger says.
package struct Uploads: Sendable {
    private let uploader: Uploader
    private let secrets: SecretStore
    private let lane = BlockingLane(label: "upload-secrets")

    package init(uploader: Uploader, secrets: SecretStore) {
        self.uploader = uploader
        self.secrets = secrets
    }

    /// One file to send.
    package struct File: Sendable {
        package var path: String
        package var artifact: Artifact

        package init(path: String, artifact: Artifact) {
            self.path = path
            self.artifact = artifact
        }
    }

    /// - Parameters:
    ///   - template: The trigger's URL.
    ///   - values: What the URL's `{names}` stand for, but two: `{file}` is each file's own, `{configuration}` the archived
    ///     one's, the same for all files.
    ///   - credentials: The name of a secret: `user:password`, or for sftp a private key. Its host keys are the secret
    ///     of the same name with `-known-hosts` behind it.
    /// - Returns: How many files arrived, for people.
    /// - Throws: `UploadTriggerError`, `TransferError`, `SettingsError`.
    package func send(
        _ files: [File], to template: String, values: [String: String], credentials: String?
    ) async throws -> String {
        // One configuration archives, so all files have the same; the source archive has none and goes along.
        var values = values
        values["configuration"] = files.lazy.compactMap(\.artifact.configuration).first?.description ?? ""
        let options: UploadOptions = try await lane.run { try self.options(credentials, template: template) }
        let results = try await uploader.upload(
            files.map {
                UploadFile(
                    path: $0.path, name: $0.artifact.path, sha256: $0.artifact.sha256, size: $0.artifact.size.bytes)
            }, to: template, values: values, options: options)
        let already = results.count { $0.outcome == .alreadyThere }
        return "uploaded " + (results.count - already).counting("file")
            + (already == 0 ? "" : ", \(already) were there already")
    }

    private func options(_ name: String?, template: String) throws -> UploadOptions {
        var options = UploadOptions()
        // The operator wrote the URL, so that http is what was meant.
        options.isPlainHTTPAllowed = template.hasPrefix("http:")
        guard let name else { return options }
        guard let secret = try secrets.value(name) else {
            throw UploadTriggerError("the secret \(name) is not set; set it with `martlet secret set \(name)`")
        }
        options.credentials = TransferCredentials(secret: secret, file: try secrets.file(name))
        if template.hasPrefix("sftp:") {
            guard let knownHosts = try secrets.file("\(name)-known-hosts") else {
                throw UploadTriggerError(
                    "the secret \(name)-known-hosts is not set: the server's line of known_hosts (ssh-keyscan -t ed25519 "
                        + "HOST, once checked); without it no host is trusted")
            }
            options.knownHosts = knownHosts
        }
        return options
    }
}

/// Why an upload could not begin, for the operator to mend.
struct UploadTriggerError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
