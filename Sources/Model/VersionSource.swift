extension Trigger {
    /// Where a published version's name comes from.
    package enum VersionSource: Hashable, Sendable {
        /// `release/1.4` → 1.4.0, 1.4.1 …
        case branch
        /// The tag's own name, `1.4.0` or `v1.4.0`.
        case tag
        /// What a file of the commit says; its path from the repository's root.
        case file(String)
        /// What a command prints, which runs as the job did that built the products.
        case command(String)

        /// Those without anything to say beside.
        package enum Word: String, Sendable, CaseIterable {
            case branch, tag

            package var source: VersionSource { self == .branch ? .branch : .tag }
        }

        /// Longest text of a file or from a command, in bytes.
        package static let maximumTextSize = 4096
    }
}

/// A word, as it was stored before there were others, or an object with one member.
extension Trigger.VersionSource: Codable {
    private enum CodingKeys: String, CodingKey { case file, command }

    package init(from decoder: any Decoder) throws {
        if let word = try? decoder.singleValueContainer().decode(String.self) {
            guard let known = Word(rawValue: word) else {
                throw DecodingError.dataCorrupted(
                    .init(
                        codingPath: decoder.codingPath, debugDescription: "not a source of versions: \(word.prefix(80))"
                    ))
            }
            self = known.source
            return
        }
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if let path = try container.decodeIfPresent(String.self, forKey: .file) {
            self = .file(path)
        } else {
            self = .command(try container.decode(String.self, forKey: .command))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .branch, .tag:
            var container = encoder.singleValueContainer()
            try container.encode((self == .branch ? Word.branch : .tag).rawValue)
        case .file(let path):
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(path, forKey: .file)
        case .command(let command):
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(command, forKey: .command)
        }
    }
}
