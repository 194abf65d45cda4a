import Archives
import ArgumentParser
import Basics
import Foundation
import Model

/// `martlet verify DIRECTORY`.
struct Verify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Checks a version's directory without a network: files, sums, manifest, signature, provenance.",
        discussion: """
            Who may have signed is in --signers FILE, of the form that `ssh-keygen -Y verify -f` reads; else in the keys that \
            `martlet fetch` remembers.

            Exit status: 0 all is right and signed by one of them; 1 something is missing, changed or too much; 66 there is no \
            version; 77 all is whole, but not signed by any of them (with --unsigned: 0 where it is not signed at all).
            """)

    @Argument(help: "A directory with a version's files and its SHA256SUMS.") var directory: String
    @Option(help: "Who may have signed.") var signers: String?
    @Flag(help: "Accept a version that is not signed.") var unsigned = false

    func run() async throws {
        try await Failure.exiting {
            let allowed = try signers.map(KnownSigners.read) ?? KnownSigners().read()
            let check: VersionCheck
            do throws(ArchiveError) {
                let (directory, lane) = (directory, BlockingLane(label: "verify"))
                check = try await lane.run { () throws(ArchiveError) in
                    try VersionCheck(of: directory, signers: allowed)
                }
            } catch {
                throw Failure(error.code == .corrupted ? .no : .notFound, error.description)
            }
            try Self.judge(check, in: directory, isUnsignedAccepted: unsigned, known: signers ?? "the remembered keys")
            Output.print(Self.sentence(check))
        }
    }

    /// - Throws: `Failure` with what is wrong, a line each, or with why nobody vouches.
    static func judge(
        _ check: VersionCheck, in place: String, isUnsignedAccepted: Bool, known: String
    ) throws {
        guard check.problems.isEmpty else {
            throw Failure(
                .no,
                Output.visible(check.problems.prefix(20).joined(separator: "\n"))
                    + (check.problems.count > 20 ? "\nand \(check.problems.count - 20) more" : "")
                    + "\n\(place) is not what was published")
        }
        switch check.trust {
        case .signed: break
        case .unsigned:
            guard !isUnsignedAccepted else { break }
            throw Failure(
                .denied,
                "\(place) is whole, but not signed; say --unsigned to take it as it is, when you know where it is from")
        case .unknown(let key):
            throw Failure(
                .denied,
                "\(place) is whole, but signed by \(key.fingerprint), which is not among \(known); when you know whose key it is, "
                    + "say --signers FILE with the line: NAME namespaces=\"file\" \(key)")
        }
    }

    /// What was found, a line each.
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
        return Output.visible(lines.joined(separator: "\n")) + "\n"
    }
}

/// `martlet signers`.
struct Signers: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints whose keys the daemon signs versions with, as ssh-keygen -Y verify -f reads it.")

    @OptionGroup var server: ServerOptions

    func run() async throws {
        try await Failure.exiting {
            let connection = try server.connect()
            do {
                Output.print(try await connection.get("/files/\(AllowedSigners.fileName)"))
            } catch let failure as Failure where failure.status == .notFound {
                throw Failure(
                    .notFound,
                    "\(connection.place) signs nothing: its settings name no key (`signing`), or jobs have no fence")
            }
        }
    }
}
