import Foundation
import Model
import TestSupport
import Testing

@testable import Execution

/// How often Slurm's commands are run. They are scripts here, which record each start and wait until the file `go` is there.
@Suite struct SlurmQuestionsTests {
    private static let callers = 8

    private func withProgram(
        _ name: String, printing text: String,
        _ body: (SlurmProgram, TemporaryDirectory, _ starts: @Sendable () -> Int) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.path
            try directory.write(
                name,
                "#!/bin/sh\necho start >> '\(path)/starts'\nwhile [ ! -e '\(path)/go' ]; do sleep 0.01; done\nprintf '\(text)'\n",
                mode: 0o755)
            let search = "\(path):/usr/bin:/bin"
            try await body(SlurmProgram(environment: ["PATH": search]), directory) {
                let starts = try? String(contentsOfFile: "\(path)/starts", encoding: .utf8)
                return (starts ?? "").split(separator: "\n").count
            }
        }
    }

    @Test(.proves(.jobs, "However many jobs begin or end at one time, Slurm is asked once for all of them"))
    func testThatCallersShareOneQuestionForTheNodes() async throws {
        try await withProgram("sinfo", printing: "4|1000|big\\n") { program, directory, starts in
            // given
            let offers = SlurmOffers(program: program, partition: nil)
            // when
            let answers = try await withThrowingTaskGroup(of: [MachineOffer]?.self) { group in
                for _ in 0..<Self.callers { group.addTask { await offers.recent() } }
                await until("a question") { starts() > 0 }
                try directory.write("go", "")
                return try await group.reduce(into: []) { $0.append($1) }
            }
            // then
            #expect(answers.compactMap(\.self).map(\.count) == Array(repeating: 1, count: Self.callers))
            #expect(starts() == 1)
        }
    }

    @Test(.proves(.jobs, "However many jobs begin or end at one time, Slurm is asked once for all of them"))
    func testThatThoseWhoNeedANewAnswerShareIt() async throws {
        try await withProgram("squeue", printing: "7|RUNNING|None|n1|martlet-a\\n") { program, directory, starts in
            // given
            let jobs = SlurmJobs(program: program, interval: .seconds(60))
            // when
            let answers = try await withThrowingTaskGroup(of: [String: SlurmJob].self) { group in
                // The answer to the first may be older than the other calls.
                group.addTask { try await jobs.fresh() }
                await until("a question") { starts() > 0 }
                for _ in 0..<Self.callers { group.addTask { try await jobs.fresh() } }
                for _ in 0..<Self.callers { _ = await jobs.expire() }
                try directory.write("go", "")
                return try await group.reduce(into: []) { $0.append($1) }
            }
            // then
            #expect(answers.count == Self.callers + 1 && answers.allSatisfy { $0["martlet-a"]?.number == 7 })
            #expect((2...Self.callers).contains(starts()))
        }
    }
}
