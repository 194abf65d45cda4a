import Foundation
import Model
import Storage
import TestSupport
import Testing

@testable import Forges
@testable import Integrations
@testable import Jobs

/// W14: bodies of the corpus with one value replaced, removed or duplicated.
@Suite(.proves(.intake, "Bodies with each leaf replaced, removed, doubled or huge end nothing"))
struct ForgeMutationTests {
    /// The places of all values and members in a well-formed JSON text.
    private struct Places {
        var values: [Range<Int>] = []
        var members: [Range<Int>] = []
        private let bytes: [UInt8]
        private var position = 0

        init(_ bytes: [UInt8]) {
            self.bytes = bytes
            value()
        }

        private mutating func skipSpace() { while bytes[position] <= 0x20 { position += 1 } }

        private mutating func string() {
            position += 1
            while bytes[position] != UInt8(ascii: "\"") { position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1 }
            position += 1
        }

        private mutating func value() {
            skipSpace()
            let start = position
            switch bytes[position] {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                let isObject = bytes[position] == UInt8(ascii: "{")
                repeat {
                    position += 1
                    skipSpace()
                    if bytes[position] == UInt8(ascii: "}") || bytes[position] == UInt8(ascii: "]") { break }
                    let member = position
                    if isObject {
                        string()
                        skipSpace()
                        position += 1
                    }
                    value()
                    if isObject { members.append(member..<position) }
                    skipSpace()
                } while bytes[position] == UInt8(ascii: ",")
                position += 1
            case UInt8(ascii: "\""): string()
            default: while position < bytes.count, !Array(",]} \r\n\t".utf8).contains(bytes[position]) { position += 1 }
            }
            values.append(start..<position)
        }
    }

    private static let replacements = ["null", "{}", "[]", "\"\"", "9223372036854775808", "1e400", "-1"].map {
        Array($0.utf8)
    }

    /// The number of bodies. `Tests/Acceptance/intake` sends more.
    private static var count: Int {
        ProcessInfo.processInfo.environment["MARTLET_MUTATIONS"].flatMap { Int($0) } ?? 3000
    }

    @Test(.corpus) func testW14ThatNoBodyEndsTheDaemon() throws {
        let huge = Array(("\"" + String(repeating: "a", count: 1 << 20) + "\"").utf8)
        let bodies = try ForgeCorpus.bodies().map { sample in
            let bytes = try sample.delivery.body.bytes()
            return (delivery: sample.delivery, bytes: bytes, places: Places(bytes))
        }
        var random = SystemRandom(state: 42)
        var (made, taken, refused) = (0, 0, 0)
        while made < Self.count {
            for (delivery, bytes, places) in bodies {
                var (changed, body) = (delivery, bytes)
                let choice = random.next(10)
                if choice < 8 {
                    let place = places.values[random.next(places.values.count)]
                    // A megabyte in some cases only, because copying it is expensive.
                    let isHuge = choice == 7 && made % 20 == 0
                    body.replaceSubrange(place, with: isHuge ? huge : Self.replacements[choice % 7])
                } else {
                    let place = places.members[random.next(places.members.count)]
                    let member = Array(bytes[place])
                    body.replaceSubrange(
                        place, with: choice == 8 ? Array("\"removed\":0".utf8) : member + [UInt8(ascii: ",")] + member)
                }
                made += 1
                changed.body = WebhookBody(body)
                do {
                    let event = try ForgeEventReader.read(changed)
                    taken += 1
                    for claim in event.claims {
                        #expect(claim.ref.description.hasPrefix("refs/") && claim.ref.description.utf8.count <= 1024)
                    }
                } catch {
                    refused += 1
                    #expect(error.code == .invalid)
                }
            }
        }
        #expect(made >= Self.count && taken > refused && refused > 0)
    }

    /// A generator with the same sequence each time.
    private struct SystemRandom {
        var state: UInt64

        mutating func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(bound))
        }
    }

    /// A body that is cut, or has a different byte.
    @Test(.corpus) func testThatNoTornBodyEndsTheDaemon() throws {
        var random = SystemRandom(state: 7)
        for body in try ForgeCorpus.bodies() {
            for _ in 0..<10 {
                var torn = body.delivery
                var bytes = try torn.body.bytes()
                if random.next(2) == 0 {
                    torn.body = WebhookBody(Array(bytes.prefix(random.next(bytes.count))))
                    #expect(throws: ForgeError.self) { _ = try ForgeEventReader.read(torn) }
                } else {
                    bytes[random.next(bytes.count)] = UInt8(random.next(256))
                    torn.body = WebhookBody(bytes)
                    do { _ = try ForgeEventReader.read(torn) } catch { #expect(error.code == .invalid) }
                }
            }
        }
    }
}
