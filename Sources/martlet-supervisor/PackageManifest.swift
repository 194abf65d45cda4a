import JobProtocol

/// A package as `swift package dump-package` shows it: its targets and which of them need which.
struct PackageManifest {
    struct Target {
        let name: String
        /// `regular`, `executable`, `system`, `macro`, `plugin`, `binary`, `test`.
        let type: String
        /// Of the headers, absolute, as far as the manifest tells.
        let headers: [String]
        /// Names of targets of the same package, or of products of any.
        let dependencies: [String]
        /// Of a system library: the name of its description for pkg-config.
        let pkgConfig: String?
        /// All that the manifest says of it.
        let json: JSON

        /// As SwiftPM names the module and the target's build directory: what is no letter or digit is an underscore.
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
    /// The languages' standards as clang's `-std` has them, where the manifest states any.
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

    /// `{"byName": [name, condition]}`, `{"target": …}` or `{"product": [name, package, …]}`.
    private static func dependency(_ json: JSON) -> String? {
        for kind in ["byName", "target", "product"] {
            if let name = json[kind]?.elements?.first?.text { return name }
        }
        return nil
    }
}

extension [PackageManifest] {
    /// The targets that are linked into a product of the first package: its own, and what they need, in any package. What
    /// only runs while compiling (macros, plugins) is left out with all that it needs.
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
