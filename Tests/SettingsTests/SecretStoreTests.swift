import Foundation
import Glibc
import Settings
import TestSupport
import Testing

@Suite struct SecretStoreTests {
    @Test(
        .proves(
            .settings, "Secrets: files that only the service reads, systemd credentials, values from standard input"))
    func testThatItReadsWhatItStoredAndLetsNobodyElseReadIt() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let store = SecretStore(directory: directory.path("secrets"), credentialsDirectory: nil)
            // when
            try store.set("kit-webhook", "s3cret\n")
            try store.set("other", "two\nlines\n\n")
            // then
            #expect(try store.value("kit-webhook") == "s3cret")
            #expect(try store.value("other") == "two\nlines\n")
            #expect(try store.value("none") == nil)
            var status = stat()
            #expect(stat(directory.path("secrets/kit-webhook"), &status) == 0)
            #expect(status.st_mode & 0o7777 == 0o600)
            #expect(stat(directory.path("secrets"), &status) == 0)
            #expect(status.st_mode & 0o7777 == 0o700)
            let entries = try FileManager.default.contentsOfDirectory(atPath: directory.path("secrets"))
            #expect(entries.count == 2, "nothing temporary is left")
        }
    }

    /// A line end that an editor adds is not part of the value, and would spoil its encoded forms.
    @Test func testThatALineEndOfTwoCharactersIsNoneOfTheValue() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let store = SecretStore(directory: directory.path("secrets"), credentialsDirectory: nil)
            // when
            try store.set("stored", "s3cret\r\n")
            try store.set("lines", "two\r\nlines\r\n")
            try directory.write("secrets/written", "s3cret\r\n", mode: 0o600)
            // then
            #expect(try store.value("stored").map { Array($0.utf8) } == Array("s3cret".utf8))
            #expect(try store.value("written").map { Array($0.utf8) } == Array("s3cret".utf8))
            #expect(try store.value("lines").map { Array($0.utf8) } == Array("two\r\nlines".utf8))
        }
    }

    @Test func testThatAnEscapeCharacterIsRefused() async throws {
        try await withTemporaryDirectory { directory in
            let store = SecretStore(directory: directory.path("secrets"), credentialsDirectory: nil)
            #expect {
                try store.set("a", "s3\u{1B}[31mcret")
            } throws: { error in
                (error as? SettingsError)?.code == .badValue
            }
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a file away"))
    func testThatASecretThatRootStoresBelongsToTheDirectorysOwner() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let path = try directory.makeDirectory("secrets")
            #expect(chown(path, 65_534, 65_534) == 0)
            // when
            try SecretStore(directory: path, credentialsDirectory: nil).set("a", "x")
            // then
            var status = stat()
            #expect(stat(path + "/a", &status) == 0)
            #expect(status.st_uid == 65_534)
            #expect(status.st_mode & 0o7777 == 0o600)
        }
    }

    @Test func testThatStoringReplacesTheValueAndNeverFollowsALink() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let victim = try directory.write("victim", "untouched")
            try directory.makeDirectory("secrets")
            #expect(symlink(victim, directory.path("secrets/a")) == 0)
            let store = SecretStore(directory: directory.path("secrets"), credentialsDirectory: nil)
            // when
            try store.set("a", "one")
            try store.set("a", "two")
            // then
            #expect(try store.value("a") == "two")
            #expect(try directory.text("victim") == "untouched")
        }
    }

    @Test(
        .proves(
            .settings, "Secrets: files that only the service reads, systemd credentials, values from standard input"),
        arguments: [0o640, 0o604, 0o620, 0o666] as [UInt16])
    func testThatAFileThatOthersMayReadIsRefused(_ mode: UInt16) async throws {
        try await withTemporaryDirectory { directory in
            let path = try directory.write("a", "hunter2", mode: mode)
            #expect(chmod(path, mode_t(mode)) == 0)
            let store = SecretStore(directory: directory.path, credentialsDirectory: nil)
            let error = #expect(throws: SettingsError.self) { try store.value("a") }
            #expect(error?.code == .readableByOthers)
            #expect(throws: SettingsError.self) { try store.file("a") }
            #expect(error?.description.contains("chmod 600 \(path)") == true)
            #expect(error?.description.contains("hunter2") == false)
        }
    }

    @Test(
        arguments: [[], [0x0A], [0x20, 0x0A], [0x61, 0x00], [0xFF], [UInt8](repeating: 0x61, count: 65_537)]
            as [[UInt8]])
    func testThatAnEmptyOrBrokenValueIsRefused(_ bytes: [UInt8]) async throws {
        try await withTemporaryDirectory { directory in
            try directory.write("a", bytes, mode: 0o600)
            let store = SecretStore(directory: directory.path, credentialsDirectory: nil)
            let error = #expect(throws: SettingsError.self) { try store.value("a") }
            #expect(error?.code == .badValue)
            #expect(error.map { $0.description.count < 300 } == true)
        }
    }

    @Test func testThatTheLongestValueIsRead() async throws {
        try await withTemporaryDirectory { directory in
            let value = String(repeating: "a", count: SecretStore.maximumSize)
            let store = SecretStore(directory: directory.path, credentialsDirectory: nil)
            try store.set("a", value + "\n")
            #expect(try store.value("a") == value)
        }
    }

    @Test(arguments: ["", ".", "..", ".a", "a/b", "../a", "a b", "ä", "a\n", String(repeating: "a", count: 65)])
    func testThatOtherNamesAreRefused(_ name: String) async throws {
        try await withTemporaryDirectory { directory in
            let store = SecretStore(directory: directory.path, credentialsDirectory: directory.path)
            #expect(throws: SettingsError.self) { try store.value(name) }
            #expect(throws: SettingsError.self) { try store.set(name, "x") }
        }
    }

    @Test(
        .proves(
            .settings, "Secrets: files that only the service reads, systemd credentials, values from standard input"))
    func testThatSystemdsCredentialsAreReadToo() async throws {
        try await withTemporaryDirectory { directory in
            // given
            try directory.write("credentials/both", "systemd", mode: 0o440)
            try directory.write("credentials/only", "systemd", mode: 0o440)
            try directory.write("secrets/both", "own", mode: 0o600)
            let store = SecretStore(
                directory: directory.path("secrets"), credentialsDirectory: directory.path("credentials"))
            // then
            #expect(try store.value("both") == "own")
            #expect(try store.value("only") == "systemd")
            #expect(try store.file("both") == directory.path("secrets/both"))
            #expect(try store.file("only") == directory.path("credentials/only"))
            #expect(try store.file("none") == nil)
        }
    }

    @Test func testThatWithoutADirectoryNothingIsThereAndNothingCanBeStored() throws {
        let store = SecretStore(directory: nil, credentialsDirectory: nil)
        #expect(try store.value("a") == nil)
        #expect(throws: SettingsError.self) { try store.set("a", "x") }
    }

    @Test func testThatADirectoryOrPipeInASecretsPlaceIsAnErrorAndBlocksNothing() async throws {
        try await withTemporaryDirectory { directory in
            try directory.makeDirectory("a")
            #expect(mkfifo(directory.path("b"), 0o600) == 0)
            let store = SecretStore(directory: directory.path, credentialsDirectory: nil)
            #expect(throws: SettingsError.self) { try store.value("a") }
            #expect(throws: SettingsError.self) { try store.value("b") }
        }
    }

    @Test(.proves(.triggers, "A secret as `MARTLET_SECRET_NAME`, only for scripts that name it"))
    func testThatAScriptsVariableIsMadeFromTheName() {
        #expect(SecretStore.variable(for: "upload-target.v2") == "MARTLET_SECRET_UPLOAD_TARGET_V2")
    }
}
