/// What `--archive-products` was asked for.
struct ProductOrder {
    let output: String
    let scratchPath: String
    let configuration: String
    let toolchain: String?
    let flags: [String]

    init?(arguments: [String]) { return nil }
}
