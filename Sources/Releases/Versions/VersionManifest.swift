package import Model

/// The description of a published version, stored as `manifest.json` in its directory.
///
/// It names the integration. A daemon that was killed between renaming the directory and storing its row can therefore recognize its version, and an
/// archive can be traced without the database.
package struct VersionManifest: Hashable, Sendable, Codable {
    /// The format's number. It is increased when older readers could not read the file.
    package static let currentFormat = 1

    /// The size limit of `manifest.json` in bytes. 64 KiB are enough for the names and digests of about 400 files; this is 256 times that.
    package static let maximumSize = 16 << 20

    package let product: Name
    package let version: SemanticVersion
    package let integration: IntegrationID
    package let commit: CommitID
    /// The id of the commit's tree: 40 or 64 hexadecimal digits.
    package let tree: String
    package let ref: RefName
    package let publishedAt: Timestamp
    /// The files, sorted by path. Paths are plain names.
    package let files: [Artifact]
    /// The isolation of the jobs: `sandbox` or `none`.
    package let isolation: String
    /// The name in the package registry; `nil` if the version is not in it.
    package let registry: PackageIdentifier?
    /// The public address of the repository; `nil` for a path on the service's machine, and in older versions.
    package let repository: String?
    /// The changes since the previous version; `nil` if there was none, or the changes are unknown.
    package let changes: VersionChanges?
    /// Files that the archives should contain but do not, with reasons; `nil` if none is missing.
    package let leftOut: [String]?

    package init(
        product: Name, version: SemanticVersion, integration: IntegrationID, commit: CommitID, tree: String,
        ref: RefName, publishedAt: Timestamp, files: [Artifact], isolation: String,
        registry: PackageIdentifier? = nil, repository: String? = nil, changes: VersionChanges? = nil,
        leftOut: [String]? = nil
    ) {
        self.product = product
        self.version = version
        self.integration = integration
        self.commit = commit
        self.tree = tree
        self.ref = ref
        self.publishedAt = publishedAt
        self.files = files.sorted { $0.path < $1.path }
        self.isolation = isolation
        self.registry = registry
        self.repository = repository
        self.changes = changes
        self.leftOut = leftOut
    }

    /// Whether two manifests list the same files with the same bytes.
    package func hasSameFiles(as other: VersionManifest) -> Bool {
        func digests(_ manifest: VersionManifest) -> [String: String] {
            Dictionary(manifest.files.map { ($0.path, $0.sha256) }) { first, _ in first }
        }
        return digests(self) == digests(other)
    }

    // MARK: JSON

    private enum CodingKeys: String, CodingKey {
        case format, product, version, integration, commit, tree, ref, published, files, isolation, registry,
            repository, changes, leftOut
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(Self.currentFormat, forKey: .format)
        try container.encode(product, forKey: .product)
        try container.encode(version.description, forKey: .version)
        try container.encode(integration.description, forKey: .integration)
        try container.encode(commit, forKey: .commit)
        try container.encode(tree, forKey: .tree)
        try container.encode(ref, forKey: .ref)
        try container.encode(publishedAt.description, forKey: .published)
        try container.encode(files, forKey: .files)
        try container.encode(isolation, forKey: .isolation)
        try container.encodeIfPresent(registry, forKey: .registry)
        try container.encodeIfPresent(repository, forKey: .repository)
        try container.encodeIfPresent(changes, forKey: .changes)
        try container.encodeIfPresent(leftOut, forKey: .leftOut)
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func read<Value>(_ key: CodingKeys, _ parse: (String) -> Value?) throws -> Value {
            let text = try container.decode(String.self, forKey: key)
            guard let value = parse(text) else {
                throw DecodingError.dataCorruptedError(
                    forKey: key, in: container, debugDescription: "not readable: \(text.prefix(80))")
            }
            return value
        }
        let format = try container.decode(Int.self, forKey: .format)
        guard format == Self.currentFormat else {
            throw DecodingError.dataCorruptedError(
                forKey: .format, in: container, debugDescription: "format \(format) is newer than this program")
        }
        self.init(
            product: try container.decode(Name.self, forKey: .product),
            version: try read(.version) { SemanticVersion($0) },
            integration: try read(.integration) { IntegrationID($0) },
            commit: try container.decode(CommitID.self, forKey: .commit),
            tree: try container.decode(String.self, forKey: .tree),
            ref: try container.decode(RefName.self, forKey: .ref),
            publishedAt: try read(.published) { Timestamp(rfc3339: $0) },
            files: try container.decode([Artifact].self, forKey: .files),
            isolation: try container.decode(String.self, forKey: .isolation),
            registry: try container.decodeIfPresent(PackageIdentifier.self, forKey: .registry),
            repository: try container.decodeIfPresent(String.self, forKey: .repository),
            changes: try container.decodeIfPresent(VersionChanges.self, forKey: .changes),
            leftOut: try container.decodeIfPresent([String].self, forKey: .leftOut))
    }
}

extension Timestamp {
    /// Parses the form that `description` writes, `2026-03-01T12:00:00.250Z`.
    /// - Returns: `nil` for other texts.
    init?(rfc3339 text: String) {
        let bytes = Array(text.utf8)
        let form = Array("dddd-dd-ddTdd:dd:dd.dddZ".utf8)
        guard bytes.count == form.count else { return nil }
        var numbers: [Int64] = [0]
        for (byte, expected) in zip(bytes, form) {
            if expected == UInt8(ascii: "d") {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
                numbers[numbers.count - 1] = numbers[numbers.count - 1] * 10 + Int64(byte - UInt8(ascii: "0"))
            } else {
                guard byte == expected else { return nil }
                numbers.append(0)
            }
        }
        // Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", `days_from_civil`.
        let year = numbers[1] <= 2 ? numbers[0] - 1 : numbers[0]
        let era = year / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (numbers[1] + (numbers[1] > 2 ? -3 : 9)) + 2) / 5 + numbers[2] - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        let days = era * 146_097 + dayOfEra - 719_468
        let seconds = days * 86_400 + numbers[3] * 3600 + numbers[4] * 60 + numbers[5]
        self.init(millisecondsSinceEpoch: seconds * 1000 + numbers[6])
        // An invalid date, such as 30 February, has another description.
        guard description == text else { return nil }
    }
}
