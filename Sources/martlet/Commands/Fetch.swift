import API
import Archives
import ArgumentParser
import Basics
import Encodings
import Foundation
import Glibc
import Model
import Releases
import Transfer

/// The command `martlet fetch PRODUCT[@RANGE] [FILE]…`.
struct Fetch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract:
            "Downloads a version's files, and keeps them once digests, manifest, signature and provenance are right.",
        discussion: """
            RANGE is a version, latest, latest-pre, ~1.4 or ^1; latest when left out. What arrives lies in a directory beside, \
            and is renamed when all of it is checked. With an --output that is not there yet and no FILE, that becomes the \
            version's directory, as `martlet verify` reads it; else the files are put into it, and nothing is overwritten.

            Who may have signed is in --signers FILE. Else the service's keys are remembered when they are first seen, and held \
            to from then on.
            """)

    @OptionGroup var server: ServerOptions
    @Argument(
        help: "PRODUCT or PRODUCT@RANGE.", completion: .custom { await Completions.products($0, $1, $2) })
    var product: String
    @Argument(help: "Only these files.") var files: [String] = []
    @Option(help: "Where to put them.") var output = "."
    @Option(help: "Who may have signed, as ssh-keygen -Y verify -f reads it.") var signers: String?
    @Option(help: "Whose key it must be: a name in that file.") var `as`: String?
    @Flag(help: "Accept a version that is not signed.") var unsigned = false
    @Option(help: "Seconds for all of it; an hour, and what 16 KiB a second take, when left out.") var timeLimit: Int?

    func validate() throws {
        guard !output.isEmpty else { throw ValidationError("--output is empty; name a directory") }
        guard (1...Self.longest).contains(timeLimit ?? 1) else {
            throw ValidationError("--time-limit is 1 to \(Self.longest) seconds")
        }
    }

    /// The largest value of `--time-limit`: a week, in seconds.
    private static let longest = 604_800

    func run() async throws {
        try await Failure.exiting {
            let parts = product.split(separator: "@", maxSplits: 1).map(String.init)
            guard let name = parts.first else {
                throw Failure(.usage, "no product is named; write PRODUCT or PRODUCT@RANGE")
            }
            var connection = try server.connect()
            let begin = ContinuousClock.now
            connection.deadline = begin + (timeLimit.map { .seconds($0) } ?? Self.patience)
            let version = try await version(parts.count > 1 ? parts[1] : "latest", of: name, connection)
            let trusted = try await trusted(by: connection)
            let wanted = try wanted(of: version, name)
            // A symbolic link without a target also exists.
            let isNew = files.isEmpty && faccessat(AT_FDCWD, output, F_OK, AT_SYMLINK_NOFOLLOW) != 0
            if !isNew { try checkRoom(for: wanted) }
            let arrivals = try Arrivals(beside: output, isNew: isNew)
            let ending = TerminationHandler { arrivals.remove() }
            defer { ending.end() }
            do {
                let root = "/files/\(PercentEncoding.encode(name))/\(PercentEncoding.encode(version.version))/"
                try await arrivals.fetchDescriptions(root, connection)
                // Before any file: the server's sizes are not trusted, while those of the manifest are signed.
                let promised = try await verified(arrivals, name, version, trusted, part: [], connection)
                let sizes = Dictionary(
                    promised.manifest?.files.map { ($0.path, $0.size.bytes) } ?? [], uniquingKeysWith: max)
                for file in wanted where sizes[file] == nil {
                    throw Failure(
                        .no,
                        "\(connection.place) lists the file \(file), which the manifest of \(name) \(version.version) does not have; "
                            + "nothing of it was fetched")
                }
                // Sizes that nobody signed can have any value.
                let total = wanted.reduce(Int64(0)) {
                    let (sum, overflows) = $0.addingReportingOverflow(max(0, sizes[$1] ?? 0))
                    return overflows ? .max : sum
                }
                try arrivals.checkSpace(for: total)
                if timeLimit == nil { connection.deadline = begin + Self.patience + TransferLimits.time(for: total) }
                for file in wanted {
                    try await arrivals.fetch(file, root, connection, limit: sizes[file] ?? 0)
                }
                let part = files.isEmpty ? nil : Set(files)
                let check = try await verified(arrivals, name, version, trusted, part: part, connection)
                let digests = try arrivals.digests()
                try arrivals.move(isNew ? nil : wanted, in: output)
                for file in wanted { Output.print(Output.visible("\(digests[file] ?? "")  \(file)") + "\n") }
                FileHandle.standardError.write(Data(Verify.sentence(check).utf8))
            } catch {
                arrivals.remove()
                throw error
            }
        }
    }

    /// The time for a version's description files, in addition to the time for its files. It is the limit of an upload.
    private static let patience = TransferLimits().total ?? .zero

    /// Returns the version that the server selects.
    /// - Throws: `Failure` for a version that does not match the request, and for a yanked version that was not requested by its number.
    private func version(
        _ asked: String, of name: String, _ connection: Connection
    ) async throws -> API.Version {
        let version = try await connection.get(
            "/api/v1/products/\(PercentEncoding.encode(name))/versions/\(PercentEncoding.encode(asked))",
            as: API.Version.self)
        // A compromised server could offer an old version with a valid signature.
        guard let found = SemanticVersion(version.version), VersionRange(asked)?.highest(of: [found]) == found
        else {
            throw Failure(
                .no,
                "\(connection.place) answered the request for \(name)@\(asked) with "
                    + "\(Output.visible(version.version)), which does not match; nothing was fetched"
            )
        }
        guard version.yanked else { return version }
        guard SemanticVersion(asked) != nil else {
            throw Failure(
                .no,
                "\(connection.place) answered the request for \(name)@\(asked) with \(version.version), which is yanked; nothing was "
                    + "fetched. To fetch it nevertheless, write \(name)@\(version.version)")
        }
        FileHandle.standardError.write(
            Data(
                (Output.visible(
                    "\(name) \(version.version) is yanked: its publisher withdrew it. It is fetched, because its number was requested."
                )
                    + "\n").utf8))
        return version
    }

    /// Verifies that the downloads are the requested version, complete, and signed by a trusted key.
    private func verified(
        _ arrivals: Arrivals, _ name: String, _ version: API.Version,
        _ trusted: (signers: AllowedSigners, mayBeUnsigned: Bool), part: Set<String>?, _ connection: Connection
    ) async throws -> VersionCheck {
        let place = "\(name) \(version.version)"
        let check = try await arrivals.check(trusted.signers, part: part)
        try Verify.judge(
            check, in: place, isUnsignedAccepted: unsigned || trusted.mayBeUnsigned,
            known: signers ?? "the remembered keys of \(connection.place)",
            howToTrust: howToTrust(connection))
        // A remembered key has the address that it was fetched from, which differs from the service's own URL behind a proxy. Such keys are therefore
        // not compared with the builder's name.
        if signers != nil || `as` != nil { try Verify.compareNames(check, in: place, as: `as`) }
        guard check.manifest.map({ "\($0.product)" == name && "\($0.version)" == version.version }) ?? false
        else { throw Failure(.no, "what \(connection.place) sent as \(place) is another version; nothing was kept") }
        return check
    }

    /// Returns the product files to keep.
    private func wanted(of version: API.Version, _ name: String) throws -> [String] {
        let known = version.files.map(\.path)
        // A published file's name is one component (docs/guide/versions.md, "Download"). The server is not trusted to keep to this.
        for path in known where !PublishedName.isPublishable(path) {
            throw Failure(
                .software,
                "the daemon lists the file \(Output.visible(path)), which cannot be the name of a published file; nothing was fetched"
            )
        }
        guard Set(known).count == known.count else {
            throw Failure(.software, "the daemon lists a file of the version twice; nothing was fetched")
        }
        guard Set(files).count == files.count else {
            throw Failure(.usage, "a file is named twice; name each file once")
        }
        for file in files where !known.contains(file) {
            throw Failure(
                .notFound, "\(name) \(version.version) has no file \(file); it has \(known.joined(separator: ", "))")
        }
        return files.isEmpty ? known : files
    }

    private func checkRoom(for wanted: [String]) throws {
        // A symbolic link without a target also exists.
        for file in wanted
        where faccessat(AT_FDCWD, "\(output)/\(file)", F_OK, AT_SYMLINK_NOFOLLOW) == 0 {
            throw Failure(
                .cannotCreate,
                "\(output)/\(file) exists, and is not overwritten; remove it, or write --output DIRECTORY")
        }
    }

    /// Returns instructions for trusting an unknown key.
    private func howToTrust(_ connection: Connection) throws -> (SignerKey) -> String {
        if signers != nil { return { "write --signers FILE with the line: \(KnownSigners.line($0, of: "NAME"))" } }
        let path = try KnownSigners().path
        return { "add to \(path) the line: \(KnownSigners.line($0, of: connection.place))" }
    }

    /// Returns the accepted signers, and whether a version may be unsigned. It may be if the service has no key and none is remembered.
    private func trusted(by connection: Connection) async throws -> (signers: AllowedSigners, mayBeUnsigned: Bool) {
        if let signers { return (try KnownSigners.read(signers), false) }
        let known = try KnownSigners()
        let remembered = try known.signers(of: connection.place)
        guard remembered.signers.isEmpty else { return (remembered, false) }
        let offered: AllowedSigners
        do {
            let bytes = try await connection.get("/files/\(AllowedSigners.fileName)")
            offered = try AllowedSigners(String(decoding: bytes, as: UTF8.self), name: connection.place)
        } catch let failure as Failure where failure.status == .notFound {
            return (AllowedSigners(), true)
        } catch let error as ArchiveError {
            throw Failure(.software, "\(error)")
        }
        // A file without any key means that keys were removed. The service's unsigned versions are then not accepted.
        guard !offered.signers.isEmpty else { return (AllowedSigners(), false) }
        try await known.remember(offered, of: connection.place, isLocal: connection.isLocal)
        for signer in offered.signers {
            FileHandle.standardError.write(
                Data(
                    "\(signer.key.fingerprint) is remembered as a key of \(connection.place) in \(known.path)\n".utf8))
        }
        return (try known.signers(of: connection.place), false)
    }
}
