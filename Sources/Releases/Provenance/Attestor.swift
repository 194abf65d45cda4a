import Archives
import Basics
import FoundationEssentials
import JobProtocol
package import Model
package import Settings
package import SourceControl
import Storage

/// States where each version comes from, and signs the statement with the service's key. No job ever sees the key.
package struct Attestor: Sendable {
    /// All secrets, including the key.
    private let secrets: SecretStore
    /// The name of the key; `nil` if versions are not signed.
    private let keyName: String?
    private let submodules: Submodules
    /// The URL of the service, which vouches for the versions.
    private let url: String
    private let version: String
    private let isolation: Isolation
    private let queue = SerialQueue(label: "signing")

    /// Returns the submodules of a commit, which were fetched before.
    package typealias Submodules =
        @Sendable (_ commit: CommitID, _ mirror: Mirror, _ bot: BotSpecification) async throws -> [Submodule]

    package init(
        secrets: SecretStore, key: String?, submodules: @escaping Submodules, url: String, version: String,
        isolation: Isolation
    ) {
        self.secrets = secrets
        keyName = key
        self.submodules = submodules
        self.url = url
        self.version = version
        self.isolation = isolation
    }

    /// Returns the key, which is read at each call. `nil` if no key is named. `nil` also if jobs have all rights of the service's user, so that they
    /// could read the key.
    /// - Throws: `SettingsError`, `TriggerError`, `ArchiveError`. A version that should be signed is not published without a signature.
    package func key() async throws -> SigningKey? {
        guard let keyName, isolation == .sandbox else { return nil }
        return try await queue.run { [secrets] in
            guard let text = try secrets.value(keyName) else {
                throw TriggerError(
                    "the key \(keyName), which `signing` of the settings names, is not there; store it with "
                        + "`martlet secret set \(keyName)`, or as a credential of the unit")
            }
            do throws(ArchiveError) {
                return try SigningKey(openSSH: text + "\n")
            } catch {
                throw ArchiveError(
                    code: error.code, operation: "reading of the key \(keyName), which `signing` of the settings names",
                    message: error.message, underlying: error)
            }
        }
    }

    /// Returns the attestation for a version of this integration.
    func attestation(for request: Publisher.Request, at now: Timestamp) async throws -> Attestation {
        let integration = request.integration
        var inputs = [
            Provenance.Input(
                uri: "\(Self.uri(of: request.mirror.url))@\(integration.ref)",
                digest: ["gitCommit": integration.commit.description].merging(
                    integration.tree.map { ["gitTree": $0] } ?? [:]
                ) { $1 })
        ]
        for submodule in try await submodules(integration.commit, request.mirror, request.bot) {
            inputs.append(
                Provenance.Input(
                    uri: Self.uri(of: submodule.mirror.url), digest: ["gitCommit": submodule.commit.description],
                    name: submodule.path))
        }
        let locked = try await LockedInputs(
            of: integration.commit, in: request.mirror, uri: Self.uri(of: request.mirror.url), on: queue)
        let compiler = await queue.run { [job = request.job, recipe = integration.recipe] in
            job.map { job in
                let name = job.environment["MARTLET_CONFIGURATION"] ?? recipe?.archivedConfiguration?.description
                let configuration = recipe?.configurations.first { $0.name.description == name }
                return ToolchainReading.toolchain(
                    of: job, for: configuration.flatMap { recipe?.projectType(of: $0) } ?? recipe?.projectType,
                    configuration: configuration)
            }
        }
        let notes = [locked.note, compiler?.note].compactMap(\.self)
        if !notes.isEmpty { inputs[0].annotations = [LockedInputs.annotation: notes.joined(separator: "; ")] }
        inputs += locked.inputs
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var recipe = ""
        if let ran = integration.recipe { recipe = String(decoding: try encoder.encode(ran), as: UTF8.self) }
        return Attestation(
            provenance: Provenance(
                builder: url, builderVersion: version, startedAt: integration.startedAt ?? integration.queuedAt,
                finishedAt: now, repository: "\(request.mirror.url)", recipe: recipe,
                configuration: integration.recipe?.archivedConfiguration, toolchain: compiler?.toolchain, inputs: inputs
            ),
            // Files that were built without a sandbox could have been changed by any other job.
            key: request.isolation == "sandbox" ? try await key() : nil)
    }

    /// Returns the location of a git repository as SPDX writes it: `git+https://…`, `git+ssh://…`, `git+file:///…`.
    static func uri(of url: RemoteURL) -> String {
        let text = "\(url)"
        if url.kind == .path { return "git+file://\(text)" }
        guard !text.contains("://") else { return "git+\(text)" }
        let path = url.path.hasPrefix("/") ? url.path : "/\(url.path)"
        return "git+ssh://" + (url.user.map { "\($0)@" } ?? "") + (url.host ?? "") + path
    }

    /// Publishes the key in the file server's tree, for clients that verify downloads.
    /// - Returns: The reason why versions are not signed although a key is named; `nil` otherwise.
    func announce(in versions: VersionStore) async throws -> String? {
        guard keyName != nil else { return nil }
        guard let key = try await key() else { return "jobs run without a sandbox, so that they could read the key" }
        try await announce(key, in: versions)
        return nil
    }

    /// Adds the key to the allowed signers. Does not change them if they already contain it.
    /// - Throws: `ArchiveError`. A version that cannot be verified is not published.
    func announce(_ key: SigningKey, in versions: VersionStore) async throws {
        try await versions.allow(key.publicKey, principal: url)
    }
}
