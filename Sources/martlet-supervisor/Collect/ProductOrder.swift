/// The arguments of `--archive-products`.
struct ProductOrder {
    /// The directory whose subdirectory `products` will contain the products.
    let output: String
    /// A separate build directory, so that archiving neither uses nor changes the results of the build and test steps.
    let scratchPath: String
    let configuration: String
    /// A directory whose `usr/bin` has the compiler; `nil`: the compiler in PATH.
    let toolchain: String?
    /// Additional arguments of `swift build`.
    let flags: [String]

    /// Parses the arguments. Returns `nil` if an argument is missing, unknown or repeated.
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
