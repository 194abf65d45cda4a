/// What `--archive-products` was asked for.
struct ProductOrder {
    /// The products are assembled in `products` in it.
    let output: String
    /// Of its own, so that archiving neither uses nor disturbs what the build and test steps made.
    let scratchPath: String
    let configuration: String
    /// A directory whose `usr/bin` has the compiler; nothing: the one in PATH.
    let toolchain: String?
    /// Handed on to `swift build`.
    let flags: [String]

    /// Nothing when something is missing, unknown or twice.
    init?(arguments: [String]) {
        let parts = arguments.split(separator: "--", maxSplits: 1, omittingEmptySubsequences: false)
        let options = Array(parts.first ?? [])
        var values: [String: String] = [:]
        guard options.count % 2 == 0 else { return nil }
        for index in stride(from: 0, to: options.count, by: 2) {
            guard values.updateValue(options[index + 1], forKey: options[index]) == nil else { return nil }
        }
        let known = ["--archive-products", "--scratch-path", "--configuration", "--toolchain"]
        guard values.keys.allSatisfy(known.contains), let output = values["--archive-products"],
            let scratchPath = values["--scratch-path"], let configuration = values["--configuration"],
            ["debug", "release"].contains(configuration)
        else { return nil }
        self.output = output
        self.scratchPath = scratchPath
        self.configuration = configuration
        toolchain = values["--toolchain"]
        flags = parts.count > 1 ? Array(parts[1]) : []
    }
}
