/// The contents of Package.swift, read as text: dumping the manifest would need a second build of it.
struct Manifest {
    /// The dependencies by target; others' by their module's name.
    let targets: [String: Set<String>]
    /// The version of each package, by its name.
    let packages: [String: String]

    init(_ text: String) {
        var products: [String: String] = [:]
        for match in text.matches(of: /static let (\w+) = Target\.Dependency\.product\(\s*name: "(\w+)"/) {
            products["." + match.1] = String(match.2)
        }
        var targets: [String: Set<String>] = [:]
        let declaration =
            /(?:library\(|\.executableTarget\(\s*name:|\.target\(\s*name:)\s*"([\w-]+)"(?:,\s*(?:dependencies: )?\[([^\]]*)\])?/
        for match in text.matches(of: declaration) {
            var dependencies: Set<String> = []
            for word in (match.2 ?? "").split(whereSeparator: { ", \n".contains($0) }) {
                let name = word.filter { $0 != "\"" }
                dependencies.insert(products[name] ?? name)
            }
            targets[String(match.1)] = dependencies
        }
        self.targets = targets
        var packages: [String: String] = [:]
        for match in text.matches(of: /\.package\(url: "[^"]*\/([\w.-]+)", exact: "([\d.]+)"\)/) {
            packages[String(match.1)] = String(match.2)
        }
        self.packages = packages
    }
}
