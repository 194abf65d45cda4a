import Basics
import Glibc
import TestSupport
import Testing

@testable import Web

@Suite struct PrivateSocketTests {
    private func bind(_ path: String) -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0 ? descriptor : -1
            }
        }
    }

    private func names(in directory: TemporaryDirectory) throws -> [String] {
        try directory.directory().entries().map { String(decoding: $0.bytes, as: UTF8.self) }.sorted()
    }

    @Test(.proves(.web, "The peer of the Unix socket is an admin"))
    func testThatItIsBoundWhereNobodyElseMayEnter() async throws {
        try await withTemporaryDirectory { directory in
            // when
            let place = try PrivateSocket(path: directory.path("martlet.socket"))
            let descriptor = bind(place.binding)
            defer { close(descriptor) }

            // then
            #expect(descriptor >= 0)
            #expect(try directory.directory().status(".socket")?.mode == 0o700)
            try place.publish()
            #expect(try names(in: directory) == ["martlet.socket"])
            #expect(try directory.directory().status("martlet.socket")?.mode == 0o600)
            place.remove()
            #expect(try names(in: directory) == [])
        }
    }

    /// A kill between bind and rename leaves it like this.
    @Test(.proves(.web, "The peer of the Unix socket is an admin"), arguments: [false, true])
    func testThatWhatAKillLeftGoesWithTheNextStart(isBound: Bool) async throws {
        try await withTemporaryDirectory { directory in
            // given
            let path = directory.path("martlet.socket")
            let killed = try PrivateSocket(path: path)
            let left = isBound ? bind(killed.binding) : -1
            defer { if isBound { close(left) } }

            // when
            let place = try PrivateSocket(path: path)
            let descriptor = bind(place.binding)
            defer { close(descriptor) }
            try place.publish()

            // then
            #expect(descriptor >= 0)
            #expect(try names(in: directory) == ["martlet.socket"])
        }
    }

    @Test func testThatWhatIsNotOursIsLeftAndNamed() async throws {
        try await withTemporaryDirectory { directory in
            // given
            try directory.makeDirectory(".socket/other")

            // when
            let failure = #expect(throws: PrivateSocket.Failure.self) {
                try PrivateSocket(path: directory.path("martlet.socket"))
            }

            // then
            #expect(failure?.description.contains("/.socket failed: File exists") == true)
            #expect(try names(in: directory) == [".socket"])
        }
    }
}
