import Encodings
import Model
import Storage

/// Instructions for using a version, as text to paste.
extension Pages {
    /// Returns the instructions for a version, each with a title and lines.
    /// - Parameters:
    ///   - offered: The product's versions that are not yanked.
    ///   - isPublic: Whether it can be downloaded without a token.
    func uses(
        of record: VersionRecord, offered: [SemanticVersion], isSigned: Bool, isPublic: Bool
    ) -> [ViewObject] {
        var uses: [(title: String, note: String?, text: String)] = []
        if !record.isYanked {
            if let package = record.registry { uses.append(registryUse(package, record, isPublic: isPublic)) }
            for bundle in record.files where BinaryTarget.isOne(bundle.path) {
                uses.append(bundleUse(bundle, of: record, isPublic: isPublic))
            }
        }
        uses.append(
            (
                "curl", isPublic ? nil : "With a token, which the service's operator gives.",
                downloadUse(record, offered: offered, isPublic: isPublic)
            ))
        if isSigned { uses.append(verification(of: record, isPublic: isPublic)) }
        return uses.map { ["title": .text($0.title), "note": .text($0.note), "text": .text($0.text)] }
    }

    private func registryUse(
        _ package: PackageIdentifier, _ record: VersionRecord, isPublic: Bool
    ) -> (title: String, note: String?, text: String) {
        let url = site.configuration.url
        let insecure = url.hasPrefix("https:") ? "" : " --allow-insecure-http"
        // A lower bound in SwiftPM excludes pre-releases of higher versions, so a pre-release is named exactly.
        let requirement = record.version.isPrerelease ? "exact" : "from"
        // Without the path SwiftPM sends its request to `/login` of the host, which does not exist.
        let login =
            isPublic || !insecure.isEmpty
            ? "" : "\nswift package-registry login \(url)\(RegistryRoutes.root)/login --token mt_…"
        return (
            "Swift Package Manager",
            isPublic || insecure.isEmpty ? nil : "It takes a token, and SwiftPM sends one over https alone.",
            """
            swift package-registry set\(insecure) --scope \(package.scope) \(url)\(RegistryRoutes.root)\(login)

            // Package.swift
            dependencies: [
                .package(id: "\(package)", \(requirement): "\(record.version)")
            ]
            """
        )
    }

    private func bundleUse(
        _ bundle: Artifact, of record: VersionRecord, isPublic: Bool
    ) -> (title: String, note: String?, text: String) {
        let name = BinaryTarget.name(bundle.path, of: record)
        // SwiftPM sends the credentials of ~/.netrc as Basic; the password is the token.
        let token = isPublic ? "" : " It sends the token of ~/.netrc: machine \(host) login martlet password mt_…"
        return (
            "Binary target \(name)", "SwiftPM takes binary targets from https alone." + token,
            """
            // Package.swift
            .binaryTarget(
                name: "\(name)",
                url: "\(site.configuration.url)\(FileServer.root(record))\(PercentEncoding.encode(path: bundle.path))",
                checksum: "\(bundle.sha256)"
            )
            """
        )
    }

    /// The service's host, without a port.
    private var host: String {
        let url = site.configuration.url
        let rest = url.firstRange(of: "://").map { url[$0.upperBound...] } ?? url[...]
        return String(rest.prefix { $0 != "/" && $0 != ":" })
    }

    /// Returns the commands that verify a version with OpenSSH alone; `martlet fetch` verifies without them.
    private func verification(
        of record: VersionRecord, isPublic: Bool
    ) -> (title: String, note: String?, text: String) {
        let url = site.configuration.url
        let root = url + FileServer.root(record)
        return (
            "Who signed it", "Of what was downloaded; martlet fetch checks the same by itself.",
            """
            curl -fsSO\(Self.header(isPublic)) \(url)/files/ALLOWED_SIGNERS -O \(root)SHA256SUMS -O \(root)SHA256SUMS.sig
            ssh-keygen -Y verify -f ALLOWED_SIGNERS -I \(url) -n file -s SHA256SUMS.sig < SHA256SUMS && sha256sum -c --ignore-missing SHA256SUMS
            """
        )
    }

    /// Returns the commands that download a version; every page uses them. Each command leads to this version. For the highest version of its line
    /// the last command names the line, so it also downloads later versions.
    func downloadUse(_ record: VersionRecord, offered: [SemanticVersion], isPublic: Bool) -> String {
        let root = site.configuration.url + FileServer.root(record)
        let header = Self.header(isPublic)
        var lines = isPublic ? [] : ["export MARTLET_TOKEN=mt_…"]
        if let name = Self.example(of: record)?.path {
            let encoded = PercentEncoding.encode(path: name)
            // curl does not decode the name for -O, but SHA256SUMS has the decoded name.
            let output = name == encoded ? "-fO" : "-fo \(Self.quoted(name))"
            lines += [
                "curl \(output)\(header) \(root)\(encoded)",
                "curl -fsS\(header) \(root)SHA256SUMS | sha256sum --check --ignore-missing",
            ]
        }
        let line = "~\(record.version.major).\(record.version.minor)"
        let isHighest = VersionRange(line)?.highest(of: offered) == record.version
        lines.append(
            "martlet fetch --server \(site.configuration.url) \(record.product)@\(isHighest ? line : "\(record.version)")"
        )
        return lines.joined(separator: "\n")
    }

    /// Returns curl's option for the token, which is empty for a public product.
    private static func header(_ isPublic: Bool) -> String {
        isPublic ? "" : " -H \"Authorization: Bearer $MARTLET_TOKEN\""
    }

    /// Quotes a text as one word for a shell.
    private static func quoted(_ text: String) -> String { "'" + text.replacing("'", with: "'\\''") + "'" }
}

extension Pages {
    /// Returns the file in the download example: preferably one that a configuration built.
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

    /// Returns the target's name: the file name without product, version and ending.
    static func name(_ fileName: String, of record: VersionRecord) -> String {
        let name = fileName.dropLast(ending.count)
        let prefix = "\(record.product)-\(record.version)-"
        return String(name.hasPrefix(prefix) ? name.dropFirst(prefix.count) : name)
    }
}
