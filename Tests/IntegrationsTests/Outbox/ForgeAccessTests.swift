import Model
import TestSupport
import Testing
import Transfer

@testable import Forges

/// The authentication for each forge.
@Suite struct ForgeAccessTests {
    @Test(
        .proves(.intake, "A forge's token, or user and password, in the form that it reads"),
        arguments: [StatusForge.gitea, .forgejo])
    func testThatAPasswordIsNoToken(_ forge: StatusForge) throws {
        let target = StatusTarget(forge: forge, credentials: "s", api: "https://forge.example", project: "acme/kit")
        let token = try target.request(.get, "/x", secret: "t0ken")
        #expect(token.headers["Authorization"] == "token t0ken" && token.credentials == nil)
        let password = try target.request(.get, "/x", secret: "ann:geheim")
        #expect(password.headers["Authorization"] == nil && password.credentials != nil)
    }
}
