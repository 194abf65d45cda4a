/// Limits what the rule files of one tree hold together: a few small trees can name one directory with rules thousands of times.
///
/// What a tree has in several places is parsed and counted once, so the limits are of different contents.
struct RuleBudget {
    /// Bytes of different rule files; the Linux kernel's have 30 KB. Parsed, a byte takes up to some 30.
    static let maximumBytes = 4 << 20
    /// Lines of different rule files that are rules. Parsed, a line takes some 100 bytes however short it is.
    static let maximumRules = 200_000

    private let operation: String
    private var bytes = 0
    private var rules = 0
    private var ignored: [[UInt8]: [PathPattern]] = [:]
    private var attributes: [[UInt8]: AttributeRules.File] = [:]

    init(operation: String) { self.operation = operation }

    /// Returns the lines of a `.gitignore` file.
    /// - Parameters:
    ///   - key: What is the same for files with the same content alone: the blob's id, or the content itself.
    ///   - text: Reads the content, unless it is known; `nil` where the file does not count.
    /// - Throws: `treeRefused` above a limit, and what `text` throws.
    mutating func ignored(
        _ key: [UInt8], _ text: () throws(SourceControlError) -> [UInt8]?
    ) throws(SourceControlError) -> [PathPattern]? {
        if let known = ignored[key] { return known }
        guard let text = try text() else { return nil }
        try spend(bytes: text.count, rules: 0)
        let lines = IgnoreRules.patterns(text)
        try spend(bytes: 0, rules: lines.count)
        ignored[key] = lines
        return lines
    }

    /// Returns the lines of a `.gitattributes` file; otherwise as `ignored`.
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
