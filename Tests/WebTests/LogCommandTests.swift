import Foundation
import Model
import Storage
import TestSupport
import Testing

@testable import Web

/// `martlet log`, as people run it.
@Suite struct LogCommandTests {
    /// A log is fetched in pieces of 1 MiB, and followed in pieces of 64 KiB: U+009B (CSI) and U+202E, a line end and a color, each cut
    /// by the end of a piece.
    @Test(arguments: [[], ["--follow"]])
    func testThatWhatAPieceOfALogCutsIsSeenAsAWhole(_ arguments: [String]) async throws {
        try await withWeb { web in
            // given
            try await SampleContent(web: web).fill()
            let mebibyte = 1 << 20
            var (log, safe) = ("", "")
            for (text, seen, cut) in [
                ("\u{9B}2J", "??2J", 1), ("\u{202E}", "???", 2), ("\r\n", "\r\n", 1), ("\rover", "\nover", 1),
                ("\u{1B}[31mred", "\u{1B}[31mred", 3),
            ] {
                let filling = String(repeating: ".", count: mebibyte - log.utf8.count % mebibyte - cut)
                log += filling + text
                safe += filling + seen
            }
            // and the beginning of a color at the end
            log += "\u{1B}["
            safe += "?["
            try web.directory.write("state/integrations/kit/1/debug/1/log", log)
            // when
            let printed = try await martlet(["log", "kit#1", "--configuration", "debug"] + arguments, web)
            // then
            #expect(printed.status == 0, "\(printed.stderr)")
            let isSafe = printed.stdout.utf8.elementsEqual(safe.utf8)
            #expect(isSafe, "\(printed.stdout.utf8.filter { $0 != UInt8(ascii: ".") })")
        }
    }
}
