/// The descriptions of the types of the HTTP interface and of their members. `hooks/reference` makes them of the comments in `Sources/API`.
enum MemberTexts {
    /// The descriptions, by `Object` and by `Object.member`.
    static let ofProgram = read(PackageResources.interface_tsv)

    /// Reads a table: a name, a tab and a description a line.
    static func read(_ bytes: [UInt8]) -> [String: String] {
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        return Dictionary(
            lines.compactMap { line in
                let parts = line.split(separator: "\t", maxSplits: 1)
                return parts.count == 2 ? (String(parts[0]), String(parts[1])) : nil
            }
        ) { first, _ in first }
    }
}
