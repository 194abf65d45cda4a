import Model
import TestSupport
import Testing

@testable import Reports

/// Reports of gcc 12's sanitizers about our own programs. Swift's are in the collected samples.
@Suite struct SanitizerReaderTests {
    private let root = SourceRoot(mountedAt: "/kit")

    private func read(_ sample: String) throws -> ReportContent {
        ReportReader.read(try Samples.bytes(sample), fileName: sample, root: root)
    }

    @Test(.proves(.reports, "Sanitizers' reports as issues with stacks, the same in the next run"))
    func testThatItReadsTheAddressSanitizer() throws {
        let found = try #require(try read("sanitizer-asan.txt").findings.first)
        #expect(found.rule == "AddressSanitizer.heap-use-after-free")
        #expect(found.path == "asan.c")
        #expect(found.line == 6)
        #expect(
            found.message.hasPrefix(
                "heap-use-after-free on address 0x…\nREAD of size 4 at 0x… thread T0\n    #0 main asan.c:6\n"),
            "\(found.message)")
        #expect(found.message.contains("previously allocated by thread T0 here:\n"))
        #expect(found.message.contains("    #1 make asan.c:2\n"))
        #expect(!found.message.contains("Shadow"))
    }

    @Test func testThatEachLeakIsAFindingAtItsPlace() throws {
        let found = try read("sanitizer-leak.txt").findings
        #expect(found.map(\.rule) == ["LeakSanitizer.memory-leak", "LeakSanitizer.memory-leak"])
        #expect(found.map(\.path) == ["leak.c", "leak.c"])
        #expect(found.map(\.line) == [4, 3], "what is lost with something else is not told apart")
    }

    @Test(arguments: ["sanitizer-ub.txt", "sanitizer-ub-stack.txt"])
    func testThatItReadsUndefinedBehavior(sample: String) throws {
        let found = try read(sample).findings
        #expect(found.map(\.line) == [5, 7, 7, 8])
        #expect(found.map(\.column) == [35, 21, 5, 14])
        #expect(found.first?.rule == "UndefinedBehaviorSanitizer.signed-integer-overflow")
        #expect(found.first?.message.contains("    #0 main ub.c:5") == (sample == "sanitizer-ub-stack.txt"))
        #expect(found.allSatisfy { !$0.message.contains("0x7f") })
    }

    @Test func testThatItReadsTheThreadSanitizer() throws {
        let found = try read("sanitizer-tsan.txt").findings
        #expect(found.map(\.rule) == ["ThreadSanitizer.data-race"])
        #expect(found.first?.path == "tsan.c")
        #expect(found.first?.line == 3)
        #expect(found.first?.message.hasPrefix("data race\n") == true, "\(found.first?.message ?? "")")
        #expect(found.first?.message.contains("#1 main tsan.c:6") == true)
    }

    @Test(.proves(.reports, "Sanitizers' reports as issues with stacks, the same in the next run"))
    func testThatARunThatDiffersInAddressesOnlyIsTheSame() throws {
        let text = String(decoding: try Samples.bytes("sanitizer-asan.txt"), as: UTF8.self)
        let other = text.replacing("0x602000000010", with: "0x7770deadbeef").replacing("==17109==", with: "==4==")
        let twice = SanitizerReader.read(Array((text + other).utf8), root: root)
        #expect(twice.findings.count == 1)
    }

    @Test(.corpus) func testThatSwiftsRacesHaveTheirPlace() throws {
        let root = SourceRoot(mountedAt: "/home/me")
        let found = SanitizerReader.read(try Corpus.file("samples/tsan-report.txt").bytes(), root: root).findings
        #expect(found.map(\.rule) == ["ThreadSanitizer.Swift-access-race", "ThreadSanitizer.data-race"])
        #expect(found.map(\.path) == ["race.swift", "race.swift"])
        #expect(found.map(\.line) == [4, 4])
    }

    @Test(arguments: [
        "ERROR: something else", "a runtime error: no", "==1==HINT: AddressSanitizer: x",
        "SUMMARY: AddressSanitizer: x",
    ])
    func testThatOtherLinesBeginNothing(line: String) {
        #expect(SanitizerReader.isBeginning(line) == false)
    }
}
