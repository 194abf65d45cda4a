import Model
import Storage

/// How a version is used, as text to paste.
extension Pages {
    /// Each with a title and lines.
    func uses(of record: VersionRecord, isSigned: Bool) -> [ViewObject] {
        var uses: [(title: String, note: String?, text: String)] = []
        if !record.isYanked, let package = record.registry { uses.append(registryUse(package, record)) }
        for bundle in record.files where BinaryTarget.isOne(bundle.path) {
            uses.append(bundleUse(bundle, of: record))
        }
        uses.append(("curl", nil, downloadUse(record)))
        if isSigned { uses.append(verification(of: record)) }
        return uses.map { ["title": .text($0.title), "note": .text($0.note), "text": .text($0.text)] }
    }

    private func registryUse(
        _ package: PackageIdentifier, _ record: VersionRecord
    ) -> (title: String, note: String?, text: String) {
        let url = site.configuration.url
        let insecure = url.hasPrefix("https:") ? "" : " --allow-insecure-http"
        // What SwiftPM takes as a lower bound leaves out pre-releases of higher versions, so one is named exactly.
        let requirement = record.version.isPrerelease ? "exact" : "from"
        return (
            "Swift Package Manager", nil,
            """
            swift package-registry set\(insecure) --scope \(package.scope) \(url)\(RegistryRoutes.root)

            // Package.swift
            dependencies: [
                .package(id: "\(package)", \(requirement): "\(record.version)")
            ]
            """
        )
    }

    private func bundleUse(_ bundle: Artifact, of record: VersionRecord) -> (title: String, note: String?, text: String)
    {
        let name = BinaryTarget.name(bundle.path, of: record)
        return (
            "Binary target \(name)", "SwiftPM takes binary targets from https alone.",
            """
            // Package.swift
            .binaryTarget(
                name: "\(name)",
                url: "\(site.configuration.url)\(FileServer.root(record))\(URLText.path(bundle.path))",
                checksum: "\(bundle.sha256)"
            )
            """
        )
    }

    /// By OpenSSH alone; `martlet fetch` does it by itself.
    private func verification(of record: VersionRecord) -> (title: String, note: String?, text: String) {
        let url = site.configuration.url
        let root = url + FileServer.root(record)
        return (
            "Who signed it", "Of what was downloaded; martlet fetch checks the same by itself.",
            """
            curl -fsSO \(url)/files/ALLOWED_SIGNERS -O \(root)SHA256SUMS -O \(root)SHA256SUMS.sig
            ssh-keygen -Y verify -f ALLOWED_SIGNERS -I \(url) -n file -s SHA256SUMS.sig < SHA256SUMS && sha256sum -c --ignore-missing SHA256SUMS
            """
        )
    }

    private func downloadUse(_ record: VersionRecord) -> String {
        let root = site.configuration.url + FileServer.root(record)
        let example = Self.example(of: record)
        let range =
            record.version.isPrerelease || record.isYanked
            ? "\(record.version)" : "~\(record.version.major).\(record.version.minor)"
        return """
            curl -fO \(root)\(example.map { URLText.path($0.path) } ?? "")
            curl -fsS \(root)SHA256SUMS | sha256sum --check --ignore-missing
            martlet fetch --server \(site.configuration.url) \(record.product)@\(range)
            """
    }
}

extension Pages {
    /// The file that a reader is shown how to download: what was built, if anything was.
    static func example(of record: VersionRecord) -> Artifact? {
        record.files.first { $0.configuration != nil && !BinaryTarget.isOne($0.path) } ?? record.files.first
    }
}

/// A binary target's archive among a version's files (SE-0305).
enum BinaryTarget {
    private static let ending = ".artifactbundle.zip"

    static func isOne(_ fileName: String) -> Bool {
        fileName.hasSuffix(ending) && fileName.utf8.count > ending.utf8.count
    }

    /// What the target is called: the name without product, version and ending.
    static func name(_ fileName: String, of record: VersionRecord) -> String {
        let name = fileName.dropLast(ending.count)
        let prefix = "\(record.product)-\(record.version)-"
        return String(name.hasPrefix(prefix) ? name.dropFirst(prefix.count) : name)
    }
}
