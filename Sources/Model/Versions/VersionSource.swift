extension Trigger {
    /// The source of a published version's number.
    package enum VersionSource: Hashable, Sendable {
        /// The branch's name with the next patch number: `release/1.4` gives 1.4.0, 1.4.1 …
        case branch
        /// The tag's name, `1.4.0` or `v1.4.0`.
        case tag
        /// The content of a file of the commit. The path is relative to the repository's root.
        case file(String)
        /// The output of a command, which runs in the same way as the job that built the products.
        case command(String)

        /// The sources without a parameter.
        package enum Word: String, Sendable, CaseIterable {
            case branch, tag

            package var source: VersionSource { self == .branch ? .branch : .tag }
        }

        /// The size limit of the text of a file or from a command, in bytes.
        package static let maximumTextSize = 4096
    }
}

/// Encoded as a word, which is the oldest form, or as an object with one member.
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
