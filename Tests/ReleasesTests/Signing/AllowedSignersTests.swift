import Archives
import TestSupport
import Testing

@testable import Releases

@Suite(.program("ssh-keygen")) struct AllowedSignersTests {
    @Test(
        .proves(.releases, "Versions: `martlet verify DIRECTORY` checks all of it without a network"),
        arguments: [
            ("ci KEY", true), ("ci KEY a comment", true), ("  \tci\tKEY", true), ("ci namespaces=\"file\" KEY", true),
            ("ci namespaces=\"git,file\" KEY", true), ("ci namespaces=\"*,!git\" KEY", true),
            ("ci NAMESPACES=\"file\" KEY", true),
            ("\"two words\" namespaces=\"f?l*\" KEY", true), ("a,b,*.c namespaces=\"file\" KEY", true),
            ("ci namespaces=\"git\" KEY", false), ("ci namespaces=\"*,!file\" KEY", false), ("# ci KEY", false),
            ("", false),
            ("ci ssh-rsa AAAAB3NzaC1yc2E=", false),
        ])
    func testThatALineIsReadAsSshKeygenDoes(line: String, isAllowed: Bool) async throws {
        try await withTemporaryDirectory { directory in
            // given
            let key = try await SigningFixture.key(in: directory, "key")
            let text = line.replacing("KEY", with: key.publicKey.description)
            let signature = try SSHSignature(of: [1], by: key)

            // when
            let signers = try AllowedSigners("# comment\n\n\(text)\n", name: "allowed")

            // then
            #expect((signers.signer(of: signature) != nil) == isAllowed)
            // The result of `ssh-keygen -Y find-principals`, which ignores the namespace.
            try directory.write("allowed", Array((text + "\n").utf8))
            try directory.write("sig", Array(signature.armored.utf8))
            let found = try await run([
                "ssh-keygen", "-Y", "find-principals", "-f", directory.path("allowed"), "-s", directory.path("sig"),
            ])
            #expect((found.status == 0) == !signers.signers.isEmpty, "\(found.stderr)")
        }
    }

    @Test(arguments: [
        ("ci", "it contains no key"), ("ci ssh-ed25519", "it contains no key"),
        ("ci ssh-ed25519 AAAA", "its key is damaged"), ("ci namespaces=\"file KEY", "a quote is not closed"),
        ("\"ci KEY", "a quote is not closed"), ("ci namespaces=file KEY", "namespaces have quotes"),
        ("ci cert-authority KEY", "the option cert-authority is not understood"),
        ("ci valid-before=\"20300101\" KEY", "the option valid-before is not understood"),
    ])
    func testThatALineThatCannotBeJudgedIsSaid(line: String, reason: String) async throws {
        try await withTemporaryDirectory { directory in
            // given
            let key = try await SigningFixture.key(in: directory, "key")
            let text = "\n" + line.replacing("KEY", with: key.publicKey.description)

            // when
            let error = await expectRejection(ArchiveError.self, \.code, .signature) {
                try AllowedSigners(text, name: "the file")
            }

            // then
            expectContains(error?.description ?? "", "the file failed: line 2: \(reason)")
        }
    }

    @Test func testThatAPrincipalIsOneNameAndNoPattern() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let key = try await SigningFixture.key(in: directory, "key")

            // when
            let signer = AllowedSigners.Signer(principal: "https://ci.example/a,b*?\"!\n", key: key.publicKey)

            // then
            #expect(signer.principals == "https://ci.example/a%2Cb%2A%3F%22%21%0A")
            #expect(try AllowedSigners(signer.line, name: "").signers == [signer])
        }
    }

    @Test func testThatTheTreesFileKeepsEarlierKeysAndWhatPeopleWrote() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let fixture = try await SigningFixture(directory)
            let other = try await SigningFixture.key(in: directory, "other")
            try directory.write("files/ALLOWED_SIGNERS", "# ours")
            let store = fixture.versions.store

            // when
            for key in [fixture.key, other, fixture.key] {
                try await store.allow(key.publicKey, principal: fixture.principal)
            }

            // then
            let name = directory.path("files/ALLOWED_SIGNERS")
            let signers = try AllowedSigners(directory.text("files/ALLOWED_SIGNERS"), name: name)
            #expect(signers.signers.map(\.key) == [fixture.key.publicKey, other.publicKey])
            expectFile(directory.path("files/ALLOWED_SIGNERS"), "# ours\n" + signers.text)
            #expect(try await store.products() == [])
        }
    }

    @Test func testThatALineIsTheKeyOfTheNamesInIt() async throws {
        try await withTemporaryDirectory { directory in
            let key = try await SigningFixture.key(in: directory, "key").publicKey
            for (principals, name, isKey) in [
                ("https://ci.example", "https://ci.example", true),
                ("https://ci.example", "https://ci.example.evil", false),
                ("a,https://*.example", "https://ci.example", true), ("*,!b", "b", false),
                ("\"two words,c\"", "c", true),
                // A principal is no pattern.
                ("a", "*", false),
            ] {
                let signer = try #require(try AllowedSigners("\(principals) \(key)", name: "f").signers.first)
                #expect(signer.isKey(of: name) == isKey, "\(principals), \(name)")
                #expect(try AllowedSigners(signer.line, name: "f").signers == [signer])
            }
        }
    }
}
