import Basics
import Execution
import JobProtocol
package import Model
import Reports
package import Storage

/// Reports the progress of a run: the current step, the tests so far, the errors. During a run, findings and tests come from the output alone. The
/// results are read when a configuration has ended.
package actor RunWatch {
    /// An event since the last call of `look()`. The events of a configuration are in order.
    package enum News: Sendable, Hashable {
        case began(Name, JobStep, name: String)
        case found(Name, Finding)
        case failed(Name, TestResult)
        case ended(Name, StepRecord)
        case completed(AttemptRecord)
    }

    /// A step that is running.
    package struct Running: Sendable, Hashable {
        package let configuration: Name
        package let step: JobStep
        /// The step's own name.
        package let name: String
        package let since: Timestamp
        package let tests: Int
        package let failing: Int
    }

    fileprivate struct Followed {
        var directory: AttemptDirectory
        var job: JobDescription
        /// The number of records of the log's index that were read.
        var records = 0
        var offset: Int64 = 0
        /// The step that printed the bytes from `offset` on.
        var step = 0
        var readings: [Int: LiveReading] = [:]
        var reported: Set<Finding> = []
        var reportedTests: Set<String> = []
        var began: Set<Int> = []
        var ended: Set<Int> = []
        var isCompleted = false
    }

    private let id: IntegrationID
    private let store: Store
    private let state: StateDirectory
    private let queue = SerialQueue(label: "watch")
    private var followed: [AttemptID: Followed] = [:]
    /// The paths of test sources by file name, because Swift Testing prints only the name. `nil` for a name that occurs twice.
    private var places: [String: String?]?

    /// The most bytes of a log that one call of `look()` reads, so that it takes milliseconds.
    private static let maximumBytes: Int64 = 8 << 20
    /// The most files beneath `Tests` whose names are read.
    private static let maximumTestFiles = 10_000

    init(id: IntegrationID, store: Store, state: StateDirectory) {
        self.id = id
        self.store = store
        self.state = state
    }

    /// Reads the events since the last call. Must be called from one task only.
    /// - Throws: `StoreError`, `ExecutionError`.
    package func look() async throws -> (news: [News], running: [Running]) {
        var news: [News] = []
        var running: [Running] = []
        for attempt in try await store.attempts(of: id) {
            guard var one = try await follow(attempt) else { continue }
            let before = one
            one = try await queue.run { try Self.reading(before) }
            tell(of: attempt, &one, &news)
            if let step = attempt.steps.last, step.endedAt == nil, case .running = attempt.state {
                let tests = one.readings[step.index]?.tests ?? []
                running.append(
                    Running(
                        configuration: attempt.id.job, step: step.step, name: step.name, since: step.startedAt,
                        tests: tests.count, failing: tests.count(where: \.outcome.isFailure)))
            }
            followed[attempt.id] = one
        }
        return (news, running)
    }

    /// Returns the findings and failing tests of a configuration that were already reported.
    package func reported(_ configuration: Name) -> (findings: Set<Finding>, tests: Set<String>) {
        let these = followed.filter { $0.key.job == configuration }.values
        return (
            these.reduce(into: []) { $0.formUnion($1.reported) },
            these.reduce(into: []) { $0.formUnion($1.reportedTests) }
        )
    }

    private func follow(_ attempt: AttemptRecord) async throws -> Followed? {
        if let known = followed[attempt.id] { return known }
        guard !attempt.steps.isEmpty || attempt.state.verdict != nil else { return nil }
        let path = state.attempt(attempt.id.integration, job: attempt.id.job, attempt: attempt.id.attempt)
        let directory = AttemptDirectory(path: path)
        // An attempt that ended before it was prepared has no job and no output.
        let job = await queue.run { try? directory.job() }
        return Followed(directory: directory, job: job ?? JobDescription(steps: [], workspace: "/"))
    }

    private static func reading(_ one: Followed) throws -> Followed {
        var one = one
        guard !one.job.steps.isEmpty else { return one }
        let size = one.directory.logSize
        let limit = min(size, one.offset + maximumBytes)
        let records = try one.directory.readIndex(from: one.records)
        for record in records where Int64(clamping: record.offset) <= limit {
            try one.read(to: Int64(clamping: record.offset))
            one.step = Int(record.step)
            one.records += 1
        }
        // Bytes after the last record belong to its step. Before the first record they are not read yet.
        if one.records > 0 { try one.read(to: limit) }
        return one
    }

    private func tell(of attempt: AttemptRecord, _ one: inout Followed, _ news: inout [News]) {
        let job = attempt.id.job
        for step in attempt.steps where step.name != JobStep.list {
            if one.began.insert(step.index).inserted { news.append(.began(job, step.step, name: step.name)) }
            for finding in one.readings[step.index]?.findings ?? [] where one.reported.insert(finding).inserted {
                news.append(.found(job, finding))
            }
            for test in one.readings[step.index]?.tests ?? []
            where test.outcome.isFailure && one.reportedTests.insert(test.name).inserted {
                news.append(.failed(job, placed(test, in: one.job.workspace)))
            }
            if step.endedAt != nil, one.ended.insert(step.index).inserted { news.append(.ended(job, step)) }
        }
        if attempt.state.verdict != nil, !one.isCompleted {
            one.isCompleted = true
            news.append(.completed(attempt))
        }
    }

    /// Returns the test with the full path of its file, if exactly one file has that name.
    private func placed(_ test: TestResult, in workspace: String) -> TestResult {
        guard let name = test.path, !name.contains("/") else { return test }
        var placed = test
        let known = places ?? Self.testFiles(in: workspace)
        places = known
        if let path = known[name] ?? nil { placed.path = path }
        return placed
    }

    private static func testFiles(in workspace: String) -> [String: String?] {
        var found: [String: String?] = [:]
        // Without `Tests`, or with too many files, names stay as printed.
        try? Directory(opening: workspace).walk("Tests", limit: maximumTestFiles) { path, status in
            guard status.kind == .file else { return }
            let text = String(decoding: path, as: UTF8.self)
            let name = text.split(separator: "/").last.map(String.init) ?? text
            found[name] = .some(found[name] == nil ? text : nil)
        }
        return found
    }
}

extension RunWatch.Followed {
    /// Reads the output of the current step up to an offset.
    fileprivate mutating func read(to end: Int64) throws {
        while offset < end {
            let bytes = try directory.readLog(from: offset, count: Int(min(end - offset, 1 << 20)))
            guard !bytes.isEmpty else { return }
            offset += Int64(bytes.count)
            guard job.steps.indices.contains(step), let kind = JobStep(rawValue: job.steps[step].step) else { continue }
            let subject: LiveReading.Subject
            switch kind {
            case .building: subject = .diagnostics
            case .testing: subject = .tests
            case .analyzing, .archiving, .checkout, .processing: continue
            }
            readings[step, default: LiveReading(subject, root: SourceRoot(mountedAt: job.mountedAt))].read(bytes)
        }
    }
}
