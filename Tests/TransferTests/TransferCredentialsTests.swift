import Testing
import Transfer

@Suite struct TransferCredentialsTests {
    @Test func testThatItReadsASecretAsOperatorsStoreIt() {
        #expect(
            TransferCredentials(secret: "ci:pass:word\n", file: nil) == .password(user: "ci", password: "pass:word"))
        #expect(TransferCredentials(secret: "token1\r\n", file: nil) == .bearer(token: "token1"))
        let key = "-----BEGIN OPENSSH PRIVATE KEY-----\nx\n"
        #expect(
            TransferCredentials(secret: key, file: "/secrets/office")
                == .privateKey(user: nil, path: "/secrets/office", passphrase: nil))
        #expect(TransferCredentials(secret: key, file: nil) == nil)
        #expect(TransferCredentials(secret: "\n", file: nil) == nil)
    }

    @Test func testThatItShowsNoSecret() {
        let credentials = TransferCredentials.password(user: "ci", password: "canary-secret")
        var dumped = ""
        dump(credentials, to: &dumped)
        for text in ["\(credentials)", String(reflecting: credentials), dumped] {
            #expect(!text.contains("canary-secret"))
        }
        var request = TransferRequest(.get, "https://h/", credentials: credentials)
        request.headers["X"] = "1"
        #expect(!"\(request)".contains("canary-secret"))
    }
}
