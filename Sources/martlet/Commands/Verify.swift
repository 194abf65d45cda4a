import Archives
import ArgumentParser
import Basics
import Foundation
import Model
import Releases

/// The command `martlet verify DIRECTORY`.
struct Verify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Checks a version's directory without a network: files, sums, manifest, signature, provenance.",
        discussion: """
            Who may have signed is in --signers FILE, of the form that `ssh-keygen -Y verify -f` reads; else in the keys that \
            `martlet fetch` remembers. A key that these call by a URL vouches only for what says that it was made there; --as \
            names another that you know it by, as -I of ssh-keygen does.

            Exit status: 0 all is right and signed by one of them; 1 something is missing, changed or too much; 66 there is no \
            version; 77 all is whole, but not signed by any of them (with --unsigned: 0 where it is not signed at all).
            """)

    @Argument(help: "A directory with a version's files and its SHA256SUMS.") var directory: String
    @Option(help: "Who may have signed.") var signers: String?
    @Option(help: "Whose key it must be: a name in that file.") var `as`: String?
    @Flag(help: "Accept a version that is not signed.") var unsigned = false

    func run() async throws {
        try await Failure.exiting {
            let allowed = try signers.map(KnownSigners.read) ?? KnownSigners().read()
            let check: VersionCheck
            do throws(ArchiveError) {
                let (directory, queue) = (directory, SerialQueue(label: "verify"))
                check = try await queue.run { () throws(ArchiveError) in
                    try VersionCheck(of: directory, signers: allowed)
                }
            } catch {
                throw Failure(error.code == .corrupted ? .no : .notFound, error.description)
            }
            try Self.judge(check, in: directory, isUnsignedAccepted: unsigned, known: signers ?? "the remembered keys")
            try Self.compareNames(check, in: directory, as: `as`)
            Output.print(Self.sentence(check))
        }
    }

    /// Checks the result of a verification.
    /// - Parameters:
    ///   - place: The name of the version in messages.
    ///   - isUnsignedAccepted: Whether an unsigned version is accepted.
    ///   - known: A description of the accepted keys, for messages.
    ///   - howToTrust: Returns instructions for trusting a key.
    /// - Throws: `Failure` with one line for each problem, or with the reason why the signature is not trusted.
    static func judge(
        _ check: VersionCheck, in place: String, isUnsignedAccepted: Bool, known: String,
        howToTrust: (SignerKey) -> String = {
            "write --signers FILE with the line: \(KnownSigners.line($0, of: "NAME"))"
        }
    ) throws {
        guard check.problems.isEmpty else {
            throw Failure(
                .no,
                lines: check.problems.prefix(20)
                    + (check.problems.count > 20 ? ["and \(check.problems.count - 20) more"] : [])
                    + ["\(place) is not what was published"])
        }
        switch check.trust {
        case .signed: break
        case .unsigned:
            guard !isUnsignedAccepted else { break }
            throw Failure(
                .denied,
                "\(place) is complete, but not signed; if you know where it is from, write --unsigned to accept it")
        case .unknown(let key):
            throw Failure(
                .denied,
                "\(place) is complete, but signed by \(key.fingerprint), which is not among \(known); if you know whose key it is, "
                    + howToTrust(key))
        }
    }

    /// Checks that the key belongs to the service that made the version. The key of one service does not vouch for another service's versions.
    /// - Parameter name: The service whose key it must be; `nil`: the service that claims to have made the version.
    static func compareNames(_ check: VersionCheck, in place: String, as name: String?) throws {
        guard case .signed(let signer) = check.trust else { return }
        if let name {
            guard !check.signers.contains(where: { $0.isKey(of: name) }) else { return }
            throw Failure(.denied, "\(place) is complete, but signed by \(signer.principals), not by \(name)")
        }
        // If the line names the key by a name of the user's choice, the service's URL is unknown.
        guard signer.principals.contains("://"), check.builder.map(signer.isKey(of:)) != true else { return }
        throw Failure(
            .denied,
            "\(place) is complete, but signed by \(signer.principals), and it says that \(check.builder ?? "nobody") made it; if these "
                + "are one service, write --as \(signer.principals)")
    }

    /// Describes the result of a verification, one fact a line.
    static func sentence(_ check: VersionCheck) -> String {
        var lines: [String] = []
        if let manifest = check.manifest {
            lines.append(
                "\(manifest.product) \(manifest.version): \(check.count.counting("file")) as published, from "
                    + "\(manifest.commit) by \(manifest.integration)")
        }
        if case .signed(let signer) = check.trust {
            lines.append("signed by \(signer.principals) (\(signer.key.fingerprint))")
        } else {
            lines.append("not signed")
        }
        return lines.map { Output.visible($0) + "\n" }.joined()
    }
}

/// The command `martlet signers`.
struct Signers: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "signers",
        abstract: "Prints whose keys the daemon signs versions with, as ssh-keygen -Y verify -f reads it.")

    @OptionGroup var server: ServerOptions

    func run() async throws {
        try await Failure.exiting {
            let connection = try server.connect()
            do {
                let bytes = try await connection.get("/files/\(AllowedSigners.fileName)")
                Output.print(String(decoding: bytes, as: UTF8.self).inSafeLines)
            } catch let failure as Failure where failure.status == .notFound {
                throw Failure(
                    .notFound,
                    "\(connection.place) signs nothing: its settings name no key (`signing:`), or its jobs have no sandbox"
                )
            }
        }
    }
}
