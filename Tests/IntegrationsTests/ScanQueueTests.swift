import Storage
import TestSupport
import Testing

@testable import Integrations

@Suite struct ScanQueueTests {
    private func request(_ url: String, _ sequence: Int64 = 1) -> ScanRequest {
        ScanRequest(repository: url, sequence: sequence)
    }

    private func begin(_ queue: inout ScanQueue) -> [String] {
        var begun: [String] = []
        while let request = queue.next() { begun.append(request.repository) }
        return begun
    }

    @Test(
        .proves(
            .intake,
            "At most so many looks at once, of a server and in all; slow and silent servers delay nobody else; what an event asks for goes first"
        ))
    func testThatAServerThatIsSilentKeepsOnlyItsOwnWaiting() {
        // given: a hundred of one server before one of another server and one of this machine
        var queue = ScanQueue()
        for number in 0..<100 { _ = queue.add(request("https://away.example/r\(number).git")) }
        _ = queue.add(request("https://other.example/kit.git"))
        _ = queue.add(request("/srv/kit.git"))
        // when
        let begun = begin(&queue)
        // then
        #expect(begun.filter { $0.contains("away") }.count == ScanQueue.maximumOfServer)
        #expect(Set(begun.filter { !$0.contains("away") }) == ["https://other.example/kit.git", "/srv/kit.git"])
        // when: one of them ends
        queue.end(request("https://away.example/r0.git"))
        // then: the next begins, in the order of their arrival
        let following = self.begin(&queue)
        #expect(following == ["https://away.example/r4.git"])
    }

    @Test(
        .proves(
            .intake,
            "At most so many looks at once, of a server and in all; slow and silent servers delay nobody else; what an event asks for goes first"
        ))
    func testThatWhatAnEventAsksForGoesBeforeWhatTimeAsksFor() {
        // given: a round of polls of one server
        var queue = ScanQueue()
        for number in 0..<100 { _ = queue.add(request("https://a.example/r\(number).git")) }
        _ = begin(&queue)
        // when: an event for one that waits, and for one that does not
        _ = queue.add(ScanRequest(repository: "https://a.example/r70.git", sequence: 2, hasEvent: true))
        _ = queue.add(ScanRequest(repository: "https://a.example/new.git", sequence: 1, hasEvent: true))
        for number in 0..<4 { queue.end(request("https://a.example/r\(number).git")) }
        // then
        let begun = begin(&queue)
        #expect(begun == ["r70", "new", "r4", "r5"].map { "https://a.example/\($0).git" })
    }

    @Test(
        .proves(
            .intake,
            "At most so many looks at once, of a server and in all; slow and silent servers delay nobody else; what an event asks for goes first"
        ))
    func testThatAllAreBounded() {
        var queue = ScanQueue()
        for number in 0..<200 {
            _ = queue.add(request("https://h\(number).example/kit.git"))
            _ = queue.add(request("/srv/\(number).git"))
        }
        // when
        var begun = begin(&queue)
        // then
        #expect(begun.filter { $0.hasPrefix("/") }.count == ScanQueue.maximumLocal)
        #expect(begun.count == ScanQueue.maximumLocal + ScanQueue.maximumRemote)
        // All of them are made in the end, each once
        var all: [String] = []
        while !begun.isEmpty {
            all += begun
            for url in begun { queue.end(request(url)) }
            begun = begin(&queue)
        }
        #expect(all.count == 400)
        #expect(Set(all).count == 400)
    }

    @Test func testThatOneThatIsAskedForMeanwhileIsToldToWait() {
        var queue = ScanQueue()
        func add(_ sequence: Int64) -> Bool { queue.add(request("/a", sequence)) }
        func next() -> Int64? { queue.next()?.sequence }
        let isTaken = [add(1), add(2)]
        #expect(isTaken == [true, true], "it waits still, and looks for both")
        let begun = next()
        #expect(begun == 2)
        // when
        let isTakenMeanwhile = [add(2), add(3)]
        // then: the second is made, and the third waits for its end
        #expect(isTakenMeanwhile == [true, false])
        let other = next()
        #expect(other == nil)
        queue.end(request("/a", 2))
        let isTakenAfterwards = add(3)
        #expect(isTakenAfterwards)
        let last = next()
        #expect(last == 3)
    }

    @Test(arguments: [
        ("/srv/kit.git", ""), ("file:///srv/kit.git", ""), ("https://ann@Git.Example:8443/a/b.git", "git.example:8443"),
        ("git@git.example:a/b.git", "git.example"), ("ssh://git@git.example/a", "git.example"),
        ("git://127.0.0.1/a", "127.0.0.1"),
    ])
    func testThatAServerIsItsHostAndPort(url: String, server: String) {
        #expect(ScanQueue.server(of: url) == server)
    }
}
