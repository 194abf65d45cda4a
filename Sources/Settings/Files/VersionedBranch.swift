/// The check whether a pattern can match a branch from which a version is made.
enum VersionedBranch {
    /// Returns whether a pattern can match a branch such as `release/1.4` or `release/2`, whose last component is one or two numbers. A wildcard in
    /// that component counts as a match.
    static func canMatch(_ pattern: String) -> Bool {
        let last = pattern.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        if last.contains("*") || last.contains("?") { return true }
        let text = last.hasPrefix("v") ? last.dropFirst() : last
        let numbers = text.split(separator: ".", omittingEmptySubsequences: false)
        return numbers.count <= 2
            && numbers.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
    }
}
