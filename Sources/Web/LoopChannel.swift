import Basics
import HummingbirdCore
import Logging
import NIOCore

/// Answers a connection's requests on its event loop's own thread, not on the pool's. This saves an answer two switches between threads, each of
/// which can wait for a processor behind a job's process.
///
/// Answers do not block: the database and files are read on lanes of their own.
struct LoopChannel: ServerChildChannel {
    let http: HTTP1Channel

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        channel.eventLoop.execute(AnsweringThread.mark)
        return http.setup(channel: channel, logger: logger)
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async {
        await withTaskExecutorPreference(LoopExecutor(loop: value.channel.eventLoop)) {
            await AnsweringThread.$isAnswering.withValue(true) { await http.handle(value: value, logger: logger) }
        }
    }
}

/// An event loop as an executor of tasks (SE-0417).
private final class LoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    init(loop: any EventLoop) { self.loop = loop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
