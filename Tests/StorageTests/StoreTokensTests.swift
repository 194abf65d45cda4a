import Foundation
import Model
import TestSupport
import Testing

@testable import Storage

@Suite struct StoreTokensTests {
    @Suite struct GivenAToken {
        @Test(.proves(.storage, "Tokens, stored hashed"))
        func testThatItIsFoundByItsHash() async throws {
            try await withStore { fixture in
                #expect(try await fixture.store.hasTokens() == false)
                try await fixture.store.createToken(name: "office", role: .operator, hash: "h1", at: time(1))
                let expected = TokenRecord(name: "office", role: .operator, createdAt: time(1))
                #expect(try await fixture.store.token(hash: "h1") == expected)
                #expect(try await fixture.store.token(hash: "h2") == nil)
                #expect(try await fixture.store.hasTokens())
            }
        }

        @Test func testThatItsNameIsUsedForEver() async throws {
            try await withStore { fixture in
                try await fixture.store.createToken(name: "office", role: .viewer, hash: "h1", at: time(1))
                #expect(try await fixture.store.revokeToken(name: "office", at: time(2)))
                await expectFailure(.exists, "choose another name") {
                    try await fixture.store.createToken(name: "office", role: .admin, hash: "h2", at: time(3))
                }
                #expect(try await fixture.store.tokens().map(\.role) == [.viewer])
            }
        }

        @Test func testThatItIsRevokedOnce() async throws {
            try await withStore { fixture in
                try await fixture.store.createToken(name: "office", role: .viewer, hash: "h1", at: time(1))
                #expect(try await fixture.store.revokeToken(name: "office", at: time(2)))
                #expect(try await fixture.store.revokeToken(name: "office", at: time(3)) == false)
                #expect(try await fixture.store.revokeToken(name: "other", at: time(3)) == false)
                #expect(try await fixture.store.token(hash: "h1")?.revokedAt == time(2))
                #expect(try await fixture.store.hasTokens() == false)
            }
        }
    }

    @Test(arguments: ["", String(repeating: "a", count: 129)])
    func testThatANameHasABoundedLength(text: String) async throws {
        try await withStore { fixture in
            await expectFailure(.tooLarge, "128 bytes") {
                try await fixture.store.createToken(name: text, role: .viewer, hash: "h", at: time(1))
            }
        }
    }
}
