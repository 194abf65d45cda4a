/// Limits the total size of the rule files of one tree, because a few small trees can contain one directory with rules thousands of times.
///
/// Rules that a tree has in several places are parsed and counted once, so the limits apply to different contents.
struct RuleBudget {
    /// The most bytes of different rule files; those of the Linux kernel have 30 KB. A byte takes up to about 30 bytes of memory when parsed.
    static let maximumBytes = 4 << 20
    /// The most rules in different rule files. A rule takes about 100 bytes of memory when parsed, however short it is.
    static let maximumRules = 200_000

    private let operation: String
    private var bytes = 0
    private var rules = 0
    private var ignored: [[UInt8]: [GitPattern]] = [:]
    private var attributes: [[UInt8]: AttributeRules.File] = [:]

    init(operation: String) { self.operation = operation }

    /// Returns the lines of a `.gitignore` file; `nil` if the file does not count.
    /// - Parameters:
    ///   - key: A key that is the same only for files with the same content: the blob's id, or the content itself.
    ///   - text: Reads the content, unless it is known. `nil` if the file does not count.
    /// - Throws: `treeRefused` above a limit, and the errors of `text`.
    mutating func ignored(
        _ key: [UInt8], _ text: () throws(SourceControlError) -> [UInt8]?
    ) throws(SourceControlError) -> [GitPattern]? {
        if let known = ignored[key] { return known }
        guard let text = try text() else { return nil }
        try spend(bytes: text.count, rules: 0)
        let lines = IgnoreRules.patterns(text)
        try spend(bytes: 0, rules: lines.count)
        ignored[key] = lines
        return lines
    }

    /// Returns the lines of a `.gitattributes` file, in the same way as `ignored`.
    mutating func attributes(
        _ key: [UInt8], _ text: () throws(SourceControlError) -> [UInt8]?
    ) throws(SourceControlError) -> AttributeRules.File? {
        if let known = attributes[key] { return known }
        guard let text = try text() else { return nil }
        try spend(bytes: text.count, rules: 0)
        let file = AttributeRules.File(text)
        try spend(bytes: 0, rules: file.count)
        attributes[key] = file
        return file
    }

    private mutating func spend(bytes: Int, rules: Int) throws(SourceControlError) {
        self.bytes += bytes
        self.rules += rules
        guard self.bytes <= Self.maximumBytes, self.rules <= Self.maximumRules else {
            throw SourceControlError(
                code: .treeRefused, operation: operation,
                message:
                    "its .gitignore and .gitattributes files have more than \(Self.maximumBytes >> 20) MiB or "
                    + "\(Self.maximumRules) rules together; write fewer rules, with wildcards in place of names")
        }
    }
}
