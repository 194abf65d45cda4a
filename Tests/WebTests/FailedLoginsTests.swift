import Basics
import Glibc
import Model
import NIOCore
import TestSupport
import Testing

@testable import Web

/// Unknown tokens are counted by the address that sends them.
@Suite struct FailedLoginsTests {
    private static let now = WebFixture.now

    @Test func testA7ThatAnAddressHas200AndOthersAreUnaffected() {
        // given
        let logins = FailedLogins()
        for number in 1...FailedLogins.limit {
            #expect(logins.fail(from: IPAddress("192.0.2.1"), at: Self.now) == nil, "\(number)")
        }
        // then
        #expect(logins.fail(from: IPAddress("192.0.2.1"), at: Self.now) == FailedLogins.refill)
        #expect(logins.fail(from: IPAddress("192.0.2.2"), at: Self.now) == nil)
        // and when: one is given back, however often it was tried meanwhile
        for _ in 1...1000 { _ = logins.fail(from: IPAddress("192.0.2.1"), at: Self.now) }
        let later = Self.now + FailedLogins.refill
        #expect(logins.fail(from: IPAddress("192.0.2.1"), at: later) == nil)
        #expect(logins.fail(from: IPAddress("192.0.2.1"), at: later) != nil)
        // and when: all are
        let muchLater = Self.now + FailedLogins.refill * (FailedLogins.limit + 1)
        for _ in 1...FailedLogins.limit { #expect(logins.fail(from: IPAddress("192.0.2.1"), at: muchLater) == nil) }
        #expect(logins.fail(from: IPAddress("192.0.2.1"), at: muchLater) != nil)
    }

    @Test func testA7ThatNoMoreAddressesThanTheLimitAreRemembered() {
        // given: one that is blocked, and many that failed once
        let logins = FailedLogins()
        for _ in 0...FailedLogins.limit { _ = logins.fail(from: IPAddress("192.0.2.1"), at: Self.now) }
        for number in 0..<(FailedLogins.maximumAddresses + 100) {
            _ = logins.fail(from: IPAddress("10.0.\(number / 256).\(number % 256)"), at: Self.now)
        }
        // then
        #expect(logins.count == FailedLogins.maximumAddresses)
        #expect(logins.fail(from: IPAddress("192.0.2.1"), at: Self.now) != nil, "who failed most is remembered longest")
        // and when: those that have all back are forgotten first
        _ = logins.fail(from: IPAddress("192.0.2.2"), at: Self.now + .seconds(3600))
        #expect(logins.count == 1)
    }

    @Test func testThatAClockThatGoesBackBlocksNobodyForLonger() throws {
        let logins = FailedLogins()
        for _ in 0...FailedLogins.limit { _ = logins.fail(from: IPAddress("192.0.2.1"), at: Self.now) }
        let wait = try #require(logins.fail(from: IPAddress("192.0.2.1"), at: Self.now + .seconds(-86_400)))
        #expect(wait <= FailedLogins.refill * FailedLogins.limit)
    }

    // MARK: The service

    /// Sends many requests on one connection.
    /// - Returns: The statuses of their answers.
    private static func statuses(_ requests: [String], to port: Int, from address: String) async throws -> [String] {
        try await SerialQueue(label: "logins").run {
            let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            defer { close(number) }
            LoopbackSocket.limitWaiting(of: number)
            func place(_ host: String, _ port: Int) -> sockaddr_in {
                var place = sockaddr_in()
                place.sin_family = sa_family_t(AF_INET)
                place.sin_port = UInt16(port).bigEndian
                inet_pton(AF_INET, host, &place.sin_addr)
                return place
            }
            var (own, other) = (place(address, 0), place("127.0.0.1", port))
            let size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isConnected = withUnsafePointer(to: &own) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(number, $0, size) }
            }
            let result = withUnsafePointer(to: &other) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(number, $0, size) }
            }
            try #require(isConnected == 0 && result == 0)
            let text = requests.map { "\($0)\r\nHost: 127.0.0.1\r\n\r\n" }.joined()
            _ = send(number, text, text.utf8.count, Int32(MSG_NOSIGNAL))
            var answers = ""
            var buffer = [UInt8](repeating: 0, count: 65_536)
            func heads() -> [String] { answers.pieces("HTTP/1.1 ").dropFirst().map { String($0.prefix(3)) } }
            while heads().count < requests.count {
                let count = recv(number, &buffer, buffer.count, 0)
                if count <= 0 { break }
                answers += String(decoding: buffer[..<count], as: UTF8.self)
            }
            return heads()
        }
    }

    private static func bad(_ number: Int, _ more: String = "") -> String {
        let secret = "mt_" + String(repeating: "0", count: 60) + String(number + 1000)
        return "GET /api/v1/bots HTTP/1.1\r\nAuthorization: Bearer \(secret)\(more)"
    }

    @Test(.proves(.web, "After 200 unknown tokens an address gets 429; known tokens always work (A7)"))
    func testA7ThatBadTokensAreRefusedAfter200AndGoodOnesNever() async throws {
        try await withWeb { web in
            // when: a client that forges a proxy's headers is the same address
            let forged = [
                "", "\r\nX-Forwarded-For: 203.0.113.7", "\r\nForwarded: for=203.0.113.8", "\r\nX-Real-IP: 203.0.113.9",
            ]
            let many = (1...FailedLogins.limit).map { Self.bad($0, forged[$0 % forged.count]) }
            #expect(Set(try await Self.statuses(many, to: web.port, from: "127.0.0.1")) == ["401"])
            // then
            let more = (1...8).map { Self.bad($0, forged[$0 % forged.count]) }
            #expect(try await Self.statuses(more, to: web.port, from: "127.0.0.1") == Array(repeating: "429", count: 8))
            let answer = try await web.send("GET", "/api/v1/bots", headers: [("Authorization", "Bearer x")])
            #expect(answer.status == 429)
            #expect(answer["Retry-After"].flatMap { Int($0) }.map { (1...600).contains($0) } == true)
            #expect(answer["Content-Type"] == "application/problem+json")
            // A proxy on this machine forwards other clients from the same address.
            try await web.expect(200, "GET", "/api/v1/bots", as: .viewer)
            try await web.expect(200, "GET", "/api/v1/bots")
            #expect(try await Self.statuses([Self.bad(1)], to: web.port, from: "127.0.0.2") == ["401"])
        }
    }
}
