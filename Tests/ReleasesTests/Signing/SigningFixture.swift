import Basics
import Foundation
import Model
import TestSupport
import Testing

@testable import Releases

/// Keys made by the real `ssh-keygen`, and versions that are signed with them.
struct SigningFixture {
    let versions: VersionFixture
    let key: SigningKey
    var directory: TemporaryDirectory { versions.directory }
    let principal = "https://ci.acme.example"

    init(_ directory: TemporaryDirectory, operations: any VersionFiles = DiskVersionFiles()) async throws {
        versions = try VersionFixture(directory, operations: operations)
        key = try await Self.key(in: directory, "key")
    }

    /// Makes a key with `ssh-keygen -t ed25519 -N ''`, in the files `name` and `name.pub`.
    static func key(in directory: TemporaryDirectory, _ name: String) async throws -> SigningKey {
        if !FileManager.default.fileExists(atPath: directory.path(name)) {
            try await runExpectingSuccess(
                ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "a comment", "-f", directory.path(name)])
        }
        return try SigningKey(openSSH: directory.text(name))
    }

    var signers: AllowedSigners { AllowedSigners([.init(principal: principal, key: key.publicKey)]) }

    var provenance: Provenance {
        Provenance(
            builder: principal, builderVersion: "0.1.0",
            startedAt: Timestamp(millisecondsSinceEpoch: 1_700_000_000_000),
            finishedAt: Timestamp(millisecondsSinceEpoch: 1_700_000_000_250),
            repository: "https://git.acme.example/kit.git", recipe: "{\"configurations\":[]}",
            configuration: Name("release"),
            toolchain: .init(program: "swift", path: "/opt/swift/usr/bin/swift", version: "Swift version 6.3.1"),
            inputs: [
                .init(
                    uri: "git+https://git.acme.example/kit.git@refs/heads/release/1.4",
                    digest: [
                        "gitCommit": String(repeating: "ab", count: 20), "gitTree": String(repeating: "cd", count: 20),
                    ]),
                .init(
                    uri: "git+https://git.acme.example/lib.git",
                    digest: ["gitCommit": String(repeating: "ef", count: 20)],
                    name: "lib"),
            ])
    }

    /// Publishes a version with two files, signed by default.
    /// - Returns: Its directory.
    @discardableResult
    func publish(_ version: String = "1.4.2", by key: SigningKey? = nil, isSigned: Bool = true) async throws -> String {
        let files = try versions.files(["kit.tar.zst": "library \(version)", "kit-source.tar.gz": "source \(version)"])
        let staged = try await versions.store.stage(
            versions.manifest(version, files), files: files,
            attestation: Attestation(provenance: provenance, key: isSigned ? key ?? self.key : nil))
        #expect(try await versions.store.publish(staged) == .published)
        return directory.path("files/kit/\(version)")
    }

    /// Copies a published version, so that a test may change it.
    func copy(_ place: String, to name: String = "copy") async throws -> String {
        let copy = directory.path(name)
        try await runExpectingSuccess(["cp", "-r", place, copy])
        try await runExpectingSuccess(["chmod", "-R", "u+w", copy])
        return copy
    }

    /// Runs `ssh-keygen -Y verify` for the sums in a directory.
    func verifiedByOpenSSH(_ place: String, principal: String? = nil, namespace: String = "file") async throws -> Bool {
        try directory.write("allowed", Array(signers.text.utf8))
        let sums = String(decoding: try WholeFile.read(place + "/SHA256SUMS", limit: 1 << 20), as: UTF8.self)
        return try await run(
            [
                "ssh-keygen", "-Y", "verify", "-f", directory.path("allowed"), "-I", principal ?? self.principal, "-n",
                namespace, "-s", place + "/SHA256SUMS.sig",
            ], input: sums
        ).status == 0
    }
}
