import JobProtocol
import TestSupport
import Testing

/// The contents of the files of an attempt's directory, written and read again.
@Suite struct JobFileTests {
    private let job = JobDescription(
        steps: [
            JobDescription.Step(
                step: "testing", name: "swift test", arguments: ["swift", "test"], environment: ["A": "b"],
                workingDirectory: "sub", timeoutMilliseconds: 1000, report: ["*.xml"], isRequired: false,
                secrets: ["token"], network: .full)
        ],
        environment: ["CI": "true"], workspace: "/w", mountedAt: "/martlet/kit", secrets: ["token"],
        isolation: .sandbox,
        sandbox: .init(
            root: "/images/a", readOnly: ["/opt/swift"], home: "/home/me", homeDirectory: "/w-home",
            temporaryBytes: 6, homeBytes: 7, sharesNetwork: false),
        limits: .init(
            logBytes: 1, fileBytes: 2, files: 3, reportBytes: 4, graceMilliseconds: 5, memoryBytes: 8 << 20,
            processes: 9, cpuWeight: 10, workspaceBytes: 11, workspaceFiles: 12),
        collect: [.init(patterns: ["products/**"], base: "products")])

    @Test(.proves(.jobs, "The job directory: `job.json`, `status.jsonl`, lock, log, `cancel`"))
    func testThatAJobSurvivesItsFile() throws {
        expectNoDifference(try JobDescription(json: job.json()), job)
    }

    @Test func testThatWhatIsNotSaidSurvivesItsFile() throws {
        // given
        var job = job
        job.sandbox?.root = nil
        job.sandbox?.homeDirectory = nil
        job.limits.memoryBytes = nil
        job.limits.cpuWeight = nil
        // when, then
        expectNoDifference(try JobDescription(json: job.json()), job)
        job.isolation = .none
        job.sandbox = nil
        expectNoDifference(try JobDescription(json: job.json()), job)
    }

    @Test(arguments: [
        (#""workspace":"/w""#, #""workspace":"w""#), (#""arguments":["swift","test"]"#, #""arguments":[]"#),
        (#""logBytes":1"#, #""logBytes":-1"#), (#""A":"b""#, #""A=B":"b""#),
        (#""swift","test""#, #""swift","te\u0000st""#),
        (#""isRequired":false"#, #""isRequired":0"#), (#""isolation":"sandbox","#, ""),
        (#""isolation":"sandbox""#, #""isolation":"none""#), (#""isolation":"sandbox""#, #""isolation":"docker""#),
        (#""fence":{"#, #""fences":{"#), (#""network":"full""#, #""network":"all""#),
        (#""mountedAt":"/martlet/kit""#, #""mountedAt":"/martlet/../etc""#), (#""root":"/images/a""#, #""root":"/""#),
        (#""readOnly":["/opt/swift"]"#, #""readOnly":["opt"]"#), (#""home":"/home/me""#, #""home":"/home//me""#),
        (#""homeDirectory":"/w-home""#, #""homeDirectory":"w-home""#),
        (#""temporaryBytes":6"#, #""temporaryBytes":0"#), (#""processes":9"#, #""processes":0"#),
        (#""cpuWeight":10"#, #""cpuWeight":10001"#), (#""memoryBytes":8388608"#, #""memoryBytes":1048575"#),
        (#""workspaceFiles":12"#, #""workspaceFiles":0"#), (#""workspaceBytes":11"#, #""workspaceBytes":"11""#),
    ])
    func testThatAJobThatIsWrongIsRefused(correct: String, wrong: String) throws {
        // given
        let text = String(decoding: job.json(), as: UTF8.self)
        try #require(text.contains(correct))
        // when, then
        #expect(throws: JobProtocolError.self) {
            try JobDescription(json: Array(text.replacing(correct, with: wrong).utf8))
        }
    }

    @Test(
        .proves(.jobs, "The job directory: `job.json`, `status.jsonl`, lock, log, `cancel`"),
        arguments: [
            StatusEvent.started(step: 0, at: 1),
            .ended(step: 1, at: 2, exit: 0, signal: nil, limit: nil, usage: .init()),
            .ended(
                step: 2, at: 3, exit: nil, signal: 9, limit: "testing exceeded 10 min",
                usage: .init(userMilliseconds: 1, systemMilliseconds: 2, maximumResidentBytes: 3)),
            .finished(at: 4, result: .completed, reason: nil, limit: nil, step: nil),
            .finished(at: 5, result: .canceled, reason: "by \"me\"\n", limit: "x", step: 1),
        ])
    func testThatAnEventSurvivesItsLine(event: StatusEvent) throws {
        expectNoDifference(try StatusEvent(line: event.line()), event)
    }

    @Test func testThatWhatIsLeftOutSurvivesItsFile() throws {
        let list = [LeftOut(step: 2, text: "a \"b\"\n was not copied"), LeftOut(step: nil, text: "ü")]
        #expect(try LeftOut.list(list.flatMap { $0.line() }) == list)
        #expect(try LeftOut.list([]).isEmpty)
        #expect(throws: JobProtocolError.self) { try LeftOut.list(Array("{}\n".utf8)) }
    }

    /// The longest paths have characters that take six bytes each in JSON.
    @Test func testThatTheFileOfWhatIsLeftOutIsNeverLargerThanIsRead() throws {
        // given
        let text = String(repeating: "\u{1}", count: 4000) + " was not copied: it is not a regular file"
        let count = LeftOut.countLimit + 1
        let list = (0..<64 * count).map { LeftOut(step: $0 / count, text: text) }
        // when
        let file = LeftOut.file(list)
        // then
        let read = try LeftOut.list(file)
        #expect(file.count <= LeftOut.sizeLimit)
        #expect(read.first?.step == 0)
        #expect(read.last?.text == LeftOut.more)
        #expect(read.count > 1000)
        #expect(read.dropLast().allSatisfy { $0.text.utf8.count <= LeftOut.textLimit })
    }

    @Test(arguments: ["a", "ü", "€", "🙂"]) func testThatALongTextKeepsItsBeginningAndItsEnd(character: String) throws {
        // given
        let (path, reason) = (String(repeating: character, count: 1000), " was not copied: it is not a regular file")
        // when
        let text = try #require(LeftOut.list(LeftOut.file([LeftOut(step: nil, text: path + reason)])).first).text
        // then
        #expect(text.hasPrefix(character))
        #expect(text.hasSuffix(character + reason))
        #expect(text.contains(character + "…" + character))
        #expect(!text.contains("\u{FFFD}"))
        #expect((490...LeftOut.textLimit).contains(text.utf8.count))
    }

    @Test func testThatALineBeingWrittenIsLeftOut() throws {
        // given
        let line = StatusEvent.started(step: 0, at: 1).line() + [0x0A]
        // when, then
        for cut in 0..<line.count { #expect(try StatusEvent.events(in: line + line.prefix(cut)).count == 1) }
        #expect(throws: JobProtocolError.self) { try StatusEvent.events(in: Array("{}\n".utf8)) }
    }

    @Test(.proves(.jobs, "The log as printed, and its index of 24-byte records"))
    func testThatAnIndexRecordHasItsLayout() throws {
        // given
        let record = LogIndexRecord(
            offset: 0x0102, millisecondsSinceEpoch: 3, firstLine: 4, step: 5, flags: [.ours, .continuesLine])
        // when
        let bytes = record.bytes()
        // then
        #expect(bytes == [2, 1, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 5, 0, 3, 0])
        #expect(LogIndexRecord(bytes) == record)
        #expect(LogIndexRecord(bytes.dropLast()) == nil)
    }

    @Test(.proves(.jobs, "The job directory: `job.json`, `status.jsonl`, lock, log, `cancel`"))
    func testThatALockNamesThisProcessAndNoOther() throws {
        // given
        let own = LockContent.ofThisProcess()
        // when, then
        #expect(own.isAlive)
        #expect(LockContent(own.text) == own)
        #expect(!LockContent(bootID: own.bootID, pid: own.pid, startTime: own.startTime + 1).isAlive)
        #expect(!LockContent(bootID: "another", pid: own.pid, startTime: own.startTime).isAlive)
        #expect(LockContent("boot 2 3 node-7") == LockContent(bootID: "boot", pid: 2, startTime: 3, host: "node-7"))
        #expect(LockContent("boot 2 3")?.host == nil)
        for text in ["boot 2 3 a b", "", "x", "boot 0 1", "boot -1 1", "boot 1 1", "boot 2 x"] {
            #expect(LockContent(text) == nil)
        }
    }

    @Test func testThatLaunchMessagesSurviveTheirJourney() throws {
        let request = LaunchRequest(attempt: "/a", secrets: ["x": "y\n"])
        #expect(try LaunchRequest(json: request.json()) == request)
        for answer in [LaunchAnswer.started(pid: 3), .exists, .failed("why")] {
            #expect(try LaunchAnswer(json: answer.json()) == answer)
        }
        let cancel = CancelRequest(reason: "r", graceMilliseconds: 1)
        #expect(try CancelRequest(json: cancel.json()) == cancel)
    }
}
