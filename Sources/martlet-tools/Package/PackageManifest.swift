import JobProtocol

/// A package according to `swift package dump-package`: its targets and their dependencies.
struct PackageManifest {
    struct Target {
        let name: String
        /// `regular`, `executable`, `system`, `macro`, `plugin`, `binary`, `test`.
        let type: String
        /// The absolute directories of its headers, as far as the manifest names them.
        let headers: [String]
        /// The names of targets of the same package, or of products of any package.
        let dependencies: [String]
        /// The name of a system library's pkg-config file; `nil` for other targets.
        let pkgConfig: String?
        /// The target's complete entry in the manifest.
        let json: JSON

        /// The name of the module and of the target's build directory in SwiftPM: characters that are neither letters nor digits become underscores.
        var module: String {
            String(
                name.unicodeScalars.map {
                    $0.properties.isAlphabetic || $0.properties.numericType != nil ? Character($0) : "_"
                })
        }
    }

    let directory: String
    let targets: [String: Target]
    /// The targets of each product.
    let products: [String: [String]]
    /// The language standards for clang's `-std`; `nil` if the manifest states none.
    let cStandard: String?
    let cxxStandard: String?

    init(json: JSON, directory: String) {
        self.directory = directory
        cStandard = json["cLanguageStandard"]?.text
        cxxStandard = json["cxxLanguageStandard"]?.text
        var targets: [String: Target] = [:]
        for element in json["targets"]?.elements ?? [] {
            guard let name = element["name"]?.text, let type = element["type"]?.text else { continue }
            let below =
                element["path"]?.text.map { [$0] } ?? ["Sources/", "Source/", "src/", "srcs/"].map { $0 + name }
            let headers = element["publicHeadersPath"]?.text ?? "include"
            targets[name] = Target(
                name: name, type: type,
                headers: below.map { directory + "/" + $0 + (type == "system" ? "" : "/" + headers) },
                dependencies: (element["dependencies"]?.elements ?? []).compactMap(Self.dependency),
                pkgConfig: element["pkgConfig"]?.text, json: element)
        }
        self.targets = targets
        var products: [String: [String]] = [:]
        for element in json["products"]?.elements ?? [] {
            guard let name = element["name"]?.text else { continue }
            products[name] = (element["targets"]?.elements ?? []).compactMap(\.text)
        }
        self.products = products
    }

    /// Returns the name in `{"byName": [name, condition]}`, `{"target": …}` or `{"product": [name, package, …]}`.
    private static func dependency(_ json: JSON) -> String? {
        for kind in ["byName", "target", "product"] {
            if let name = json[kind]?.elements?.first?.text { return name }
        }
        return nil
    }
}

extension [PackageManifest] {
    /// Returns the targets that are linked into a product of the first package: its own and their dependencies, in any package. Targets that run only
    /// during compilation (macros, plugins) are left out with all of their dependencies.
    func linkedTargets(of targets: [String]) -> [PackageManifest.Target] {
        var linked: [PackageManifest.Target] = []
        var seen: Set<String> = []
        var pending = targets.reversed().map { (package: 0, name: $0) }
        while let (package, name) = pending.popLast() {
            guard seen.insert("\(package)/\(name)").inserted else { continue }
            if let target = self[package].targets[name] {
                guard ["regular", "system", "executable"].contains(target.type) else { continue }
                linked.append(target)
                pending += target.dependencies.reversed().map { (package, $0) }
            } else if let other = indices.first(where: { self[$0].products[name] != nil }) {
                pending += (self[other].products[name] ?? []).reversed().map { (other, $0) }
            }
        }
        return linked
    }
}
