import Model
import SourceControl
import TestSupport
import Testing

/// Answers that are not git's, or not complete.
@Suite(
    .proves(
        .sourceControl,
        "A wrong answer over http is reported and traps nothing. A pack of any size takes 256 KiB of memory, and the server is not given up while libgit2 works"
    ))
struct HTTPFaultTests {
    enum Fault: String, CaseIterable, Sendable, CustomTestStringConvertible {
        case cutList, cutHead, cutChunk, wrongChunk, longField, manyFields, announcements, gzip, gzipTransfer, otherType
        case noType, negativeLength, hugeLength, otherProtocol, oldProtocol, noStatus, zero

        var testDescription: String { rawValue }

        func bytes(_ list: [UInt8]) -> [UInt8] {
            let type = "Content-Type: \(SmartHTTPAnswer.listType)\r\n"
            func text(_ head: String) -> [UInt8] { Array("HTTP/1.1 200 OK\r\n\(type)\(head)\r\n".utf8) }
            // The header of gzip (RFC 1952), without data that could be unpacked.
            let gzip: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xff, 0xff]
            return switch self {
            case .cutList: SmartHTTPAnswer.answer(SmartHTTPAnswer.listType, list.dropLast(10), length: list.count)
            case .cutHead: Array("HTTP/1.1 200 OK\r\n\(type)Content-Len".utf8)
            case .cutChunk: text("Transfer-Encoding: chunked\r\n") + Array("ffff\r\n".utf8) + list.dropLast(10)
            case .wrongChunk: text("Transfer-Encoding: chunked\r\n") + Array("-zz\r\n".utf8) + list
            case .longField: text("X: \(String(repeating: "x", count: 1 << 20))\r\n") + list
            case .manyFields: text(String(repeating: "X: y\r\n", count: 100_000)) + list
            case .announcements:
                Array(String(repeating: "HTTP/1.1 102 Processing\r\nX: y\r\n\r\n", count: 100_000).utf8) + text("")
                    + list
            case .gzip: text("Content-Encoding: gzip\r\n") + gzip
            case .gzipTransfer:
                text("Transfer-Encoding: gzip, chunked\r\n") + Array("c\r\n".utf8) + gzip + Array("\r\n0\r\n\r\n".utf8)
            case .otherType: SmartHTTPAnswer.answer(SmartHTTPAnswer.packType, list)
            case .noType: Array("HTTP/1.1 200 OK\r\n\r\n".utf8) + list
            case .negativeLength: text("Content-Length: -5\r\n") + list.dropLast(10)
            case .hugeLength: text("Content-Length: 99999999999999999999999\r\n") + list.dropLast(10)
            case .otherProtocol: Array("HTTP/2 200 OK\r\n\(type)\r\n".utf8) + list.dropLast(10)
            case .oldProtocol: list
            case .noStatus: Array("HTTP/1.1 OK\r\n\(type)\r\n".utf8) + list
            case .zero: text("X: \0\r\nY\0: z\r\n") + list.dropLast(10)
            }
        }
    }

    /// Each fault has its own cause, not the repository's absence, and no word of the server that sounds like one.
    @Test(arguments: Fault.allCases)
    func testThatAWrongAnswerIsUnreachable(_ fault: Fault) async throws {
        try await withTemporaryDirectory { directory in
            let list = SmartHTTPAnswer.list(try #require(CommitID("00000000000000000000000000000000000000aa")))
            let bytes = fault.bytes(list)
            try await ScriptedHTTPServer.serving(bytes: { _ in bytes }) { server in
                let mirror = try HTTPTransportTests.mirror(
                    server, in: directory, Credentials(user: "ci", password: "secret"))
                let error = await expectRejection(SourceControlError.self, \.code, .unreachable) {
                    try await mirror.scan()
                }
                #expect(!"\(try #require(error))".contains("secret"))
                #expect(server.requests.allSatisfy { !$0.contains("Authorization") })
            }
        }
    }

    /// Lines of git's protocol that do not belong into a list of refs. libgit2 has no message of its own for some.
    @Test(arguments: [
        "0001", "0002", "0003", "0004", "0005#", "0005\u{1}", "0006\u{1}x", "0005\u{2}", "0005\u{3}", "0006\u{3}x",
        "0008ACK ",
        "0008NAK\n", "0009ERR \n", "000bok x\n", "000eng refs x\n", "000cunpack ok", "000dshallow 1", "ffff", "zzzz",
        "0031ACK aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n", "002daaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\0",
    ])
    func testThatALineOutOfPlaceIsUnreachable(_ line: String) async throws {
        try await withTemporaryDirectory { directory in
            let list = "001e# service=git-upload-pack\n0000\(line)0000"
            let answer = SmartHTTPAnswer.answer(SmartHTTPAnswer.listType, Array(list.utf8))
            try await ScriptedHTTPServer.serving(bytes: { _ in answer }) { server in
                let mirror = try HTTPTransportTests.mirror(server, in: directory)
                let error = await expectRejection(SourceControlError.self, \.code, .unreachable) {
                    try await mirror.scan()
                }
                #expect(!"\(try #require(error))".contains("config value"))
            }
        }
    }
}
