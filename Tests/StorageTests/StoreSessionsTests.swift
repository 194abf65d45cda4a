import Foundation
import Model
import TestSupport
import Testing

@testable import Storage

@Suite struct StoreSessionsTests {
    private static let day: Int64 = 86_400
    private static let statement = ProviderStatement(
        issuer: "https://id.acme.example", mail: "ann@acme.example", groups: ["ci", "\"quoted\""])

    @Suite struct GivenATokensSession {
        @Test(.proves(.web, "Sessions are rows with hashed ids, end after 30 idle days, and can be revoked"))
        func testThatItHasTheTokensRole() async throws {
            try await withStore { fixture in
                try await fixture.store.createToken(name: "ann", role: .operator, hash: "t", at: time(1))
                try await fixture.store.createSession(.token(name: "ann"), hash: "h", at: time(2))
                let session = try #require(try await fixture.store.session(hash: "h", at: time(3)))
                #expect(session.person == "ann")
                #expect(session.origin == .token(name: "ann", rights: Rights(.operator)))
                #expect(try await fixture.store.session(hash: "t", at: time(3)) == nil)
            }
        }

        @Test(.proves(.web, "Revoking a token ends its sessions"))
        func testThatItEndsWithItsToken() async throws {
            try await withStore { fixture in
                try await fixture.store.createToken(name: "ann", role: .operator, hash: "t", at: time(1))
                try await fixture.store.createToken(name: "bob", role: .operator, hash: "u", at: time(1))
                try await fixture.store.createSession(.token(name: "ann"), hash: "h", at: time(2))
                try await fixture.store.createSession(.token(name: "bob"), hash: "i", at: time(2))
                // when
                #expect(try await fixture.store.revokeToken(name: "ann", at: time(3)))
                // then
                #expect(try await fixture.store.session(hash: "h", at: time(3)) == nil)
                #expect(try await fixture.store.sessions(at: time(3)).map(\.person) == ["bob"])
                await expectFailure(.notFound, "no such token") {
                    try await fixture.store.createSession(.token(name: "ann"), hash: "j", at: time(4))
                }
            }
        }
    }

    @Test(.proves(.web, "Sessions are rows with hashed ids, end after 30 idle days, and can be revoked"))
    func testThatASessionEndsAfterThirtyIdleDays() async throws {
        try await withStore { fixture in
            let store = fixture.store
            try await store.createSession(.provider(person: "ann", Self.statement), hash: "h", at: time(0))
            // when it is used after 29 days, it lasts for 30 more
            #expect(try await store.session(hash: "h", at: time(29 * Self.day))?.usedAt == time(0))
            #expect(try await store.session(hash: "h", at: time(59 * Self.day - 1))?.usedAt == time(29 * Self.day))
            #expect(try await store.session(hash: "h", at: time(89 * Self.day - 1)) == nil)
            #expect(try await store.sessions(at: time(89 * Self.day - 1)) == [])
        }
    }

    @Test func testThatAUseIsWrittenAtMostOnceAnHour() async throws {
        try await withStore { fixture in
            let store = fixture.store
            try await store.createSession(.provider(person: "ann", Self.statement), hash: "h", at: time(0))
            _ = try await store.session(hash: "h", at: time(3599))
            #expect(try await store.session(hash: "h", at: time(3600))?.usedAt == time(0))
            #expect(try await store.session(hash: "h", at: time(3601))?.usedAt == time(3600))
        }
    }

    @Test func testThatWhatAProviderSaidIsKept() async throws {
        try await withStore { fixture in
            try await fixture.store.createSession(.provider(person: "ann", Self.statement), hash: "h", at: time(0))
            let session = try #require(try await fixture.store.session(hash: "h", at: time(0)))
            #expect(session.origin == .provider(Self.statement))
        }
    }

    @Test func testThatASessionIsEndedByItsNumberOrItsHash() async throws {
        try await withStore { fixture in
            let store = fixture.store
            for hash in ["a", "b", "c"] {
                try await store.createSession(.provider(person: "ann", Self.statement), hash: hash, at: time(0))
            }
            let ids = try await store.sessions(at: time(0)).map(\.id)
            // when
            #expect(try await store.endSession(ids[0], of: "bob") == false)
            #expect(try await store.endSession(ids[0], of: "ann"))
            #expect(try await store.endSession(ids[0]) == false)
            #expect(try await store.endSession(ids[1]))
            try await store.endSession(hash: "a")
            // then
            #expect(try await store.sessions(at: time(0)) == [])
            // A number is never given twice: a page that is open would end somebody else's session.
            try await store.createSession(.provider(person: "ann", Self.statement), hash: "d", at: time(0))
            #expect(try await store.sessions(at: time(0)).map(\.id) == [4])
        }
    }

    @Test(.proves(.badInput, "A person has at most 50 sessions, and the service 10,000"))
    func testThatAPersonsSessionsAreBounded() async throws {
        try await withStore { fixture in
            let store = fixture.store
            try await store.createSession(.provider(person: "bob", Self.statement), hash: "bob", at: time(0))
            for number in 0...Store.maximumSessionsOfPerson {
                try await store.createSession(
                    .provider(person: "ann", Self.statement), hash: "\(number)", at: time(Int64(number)))
            }
            #expect(try await store.sessions(of: "ann", at: time(60)).count == Store.maximumSessionsOfPerson)
            #expect(try await store.session(hash: "0", at: time(60)) == nil)
            #expect(try await store.session(hash: "bob", at: time(60)) != nil)
        }
    }

    @Test func testThatANewSessionRemovesThoseThatHaveEnded() async throws {
        try await withStore { fixture in
            let store = fixture.store
            try await store.createSession(.provider(person: "ann", Self.statement), hash: "a", at: time(0))
            try await store.createSession(.provider(person: "bob", Self.statement), hash: "b", at: time(31 * Self.day))
            // even for a clock that is set back
            #expect(try await store.session(hash: "a", at: time(0)) == nil)
        }
    }

    @Test(arguments: ["", String(repeating: "a", count: 129)])
    func testThatANameHasABoundedLength(_ name: String) async throws {
        try await withStore { fixture in
            await expectFailure(.tooLarge, "128 bytes") {
                try await fixture.store.createSession(
                    .provider(person: name, Self.statement), hash: "h", at: time(0))
            }
        }
    }
}
