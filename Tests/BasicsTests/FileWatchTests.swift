import Basics
import Dispatch
import Glibc
import TestSupport
import Testing

@Suite struct FileWatchTests {

    @Suite struct GivenAFileThatIsWatched {
        @Test(.proves(.jobs, "A log followed by server-sent events, `martlet log --follow`"))
        func testThatAChangeIsTold() async throws {
            try await withTemporaryDirectory { temporary in
                // given
                let file = try Appended(temporary.write("log", "a"))
                let observer = FileWatch().observer()
                observer.add(file: temporary.path("log"))
                // when
                file.append("b")
                // then
                #expect(await observer.wait(atMost: limit))
                #expect(await !observer.wait(atMost: .milliseconds(1)), "one change is told once")
            }
        }

        @Test func testThatAChangeBeforeTheWaitIsNotLost() async throws {
            try await withTemporaryDirectory { temporary in
                // given
                let file = try Appended(temporary.write("log", "a"))
                let watch = FileWatch()
                let (first, second) = (watch.observer(), watch.observer())
                first.add(file: temporary.path("log"))
                second.add(file: temporary.path("log"))
                // when
                file.append("b")
                // then
                #expect(await second.wait(atMost: limit))
                #expect(await first.wait(atMost: limit))
            }
        }

        @Test func testThatOneWhoGoesAwayTakesNoWatchFromOthers() async throws {
            try await withTemporaryDirectory { temporary in
                // given
                let file = try Appended(temporary.write("log", "a"))
                let watch = FileWatch()
                let stays = watch.observer()
                stays.add(file: temporary.path("log"))
                do {
                    let goes = watch.observer()
                    goes.add(file: temporary.path("log"))
                }
                // when
                file.append("b")
                // then
                #expect(await stays.wait(atMost: limit))
            }
        }

        @Test func testThatACanceledWaitEnds() async throws {
            try await withTemporaryDirectory { temporary in
                // given
                try temporary.write("log", "a")
                let observer = FileWatch().observer()
                observer.add(file: temporary.path("log"))
                let thread = OneThread()
                let waiting = Task(executorPreference: thread) { await observer.wait(atMost: .seconds(3600)) }
                thread.finishJobs()
                // when
                waiting.cancel()
                // then
                #expect(await !waiting.value)
            }
        }
    }

    @Suite struct GivenADirectoryThatIsWatched {
        @Test func testThatANewFileIsToldAndThenItsChanges() async throws {
            try await withTemporaryDirectory { temporary in
                // given
                let observer = FileWatch(pause: .milliseconds(1)).observer()
                observer.add(directory: temporary.path)
                #expect(!observer.add(file: temporary.path("log")), "it is not there yet")
                // when
                let file = try Appended(temporary.write("log", ""))
                // then
                #expect(await observer.wait(atMost: limit))
                #expect(observer.add(file: temporary.path("log")))
                file.append("b")
                #expect(await observer.wait(atMost: limit))
            }
        }
    }
}

/// A file that stays open and grows, as a log does.
private final class Appended: Sendable {
    private let descriptor: Int32

    init(_ path: String) throws {
        descriptor = open(path, O_WRONLY | O_APPEND | O_CLOEXEC)
        try #require(descriptor >= 0)
    }

    deinit { close(descriptor) }

    func append(_ text: String) { #expect(write(descriptor, text, text.utf8.count) == text.utf8.count) }
}

/// Runs tasks on one queue, so that a test knows when a task has reached its waiting point.
private final class OneThread: TaskExecutor {
    private let queue = DispatchQueue(label: "martlet.test")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    /// Returns when the jobs so far have reached their waiting point or their end.
    func finishJobs() { queue.sync {} }
}

/// Far longer than the report of a change takes. No test waits for it.
private let limit = TestLimits.wait
