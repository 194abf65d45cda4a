import Model
import TestSupport
import Testing

@testable import Web

/// The request with which a node fetches its job's secrets. What a right token gets is in `SecretHandoverTests`.
@Suite struct HandoverRoutesTests {
    private static let token = String(repeating: "a", count: 26)

    @Test(
        arguments: [
            (#"{"token":"\#(token)","use":"\#(token)"}"#, 404), (#"{"token":"short","use":"\#(token)"}"#, 400),
            (#"{"token":"\#(token)","use":"../../../../etc/passwd"}"#, 400), (#"{"token":"\#(token)"}"#, 400),
            (#"{"token":"\#(token)","use":"\#(token)","more":1}"#, 400),
            (#"{"token":"\#(String(repeating: "a", count: 5000))","use":"\#(token)"}"#, 413),
        ])
    func testS9ThatNothingButAnOpenTokenGetsSecrets(_ body: String, _ status: Int) async throws {
        try await withWeb { web in
            let answer = try await web.send(
                "POST", "/api/v1/attempts/secrets", as: .admin, headers: [("Content-Type", "application/json")],
                body: Array(body.utf8))
            #expect(answer.status == status, "\(answer.text)")
            #expect(answer["Cache-Control"] == "no-store")
        }
    }
}
