extension RefPattern {
    /// Whether the `branches` and `tags` of a bot file select a ref. Without both, every ref is selected. With only one of them, no ref of the other
    /// kind is selected.
    static func isAmong(_ ref: RefName, branches: [RefPattern]?, tags: [RefPattern]?) -> Bool {
        if branches == nil, tags == nil { return true }
        if let branch = ref.branch { return branches?.contains { $0.matches(branch) } ?? false }
        if let tag = ref.tag { return tags?.contains { $0.matches(tag) } ?? false }
        return false
    }
}
