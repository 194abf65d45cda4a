/// Whether a pattern can match a branch that a version is made from.
enum VersionedBranch {
    /// A branch such as `release/1.4` or `release/2`: its last component is one or two numbers. A pattern with a wildcard in that component
    /// can match one.
    static func canMatch(_ pattern: String) -> Bool {
        let last = pattern.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        if last.contains("*") || last.contains("?") { return true }
        let text = last.hasPrefix("v") ? last.dropFirst() : last
        let numbers = text.split(separator: ".", omittingEmptySubsequences: false)
        return numbers.count <= 2
            && numbers.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
    }
}
