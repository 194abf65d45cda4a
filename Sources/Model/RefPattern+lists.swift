extension RefPattern {
    /// Whether a ref is meant by the `branches` and `tags` of something in a bot file: without either every ref is; with one of them
    /// none of the other kind.
    static func isAmong(_ ref: RefName, branches: [RefPattern]?, tags: [RefPattern]?) -> Bool {
        if branches == nil, tags == nil { return true }
        if let branch = ref.branch { return branches?.contains { $0.matches(branch) } ?? false }
        if let tag = ref.tag { return tags?.contains { $0.matches(tag) } ?? false }
        return false
    }
}
