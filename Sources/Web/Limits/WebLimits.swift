import Hummingbird
import Logging
import NIOCore

/// The cost of computing and sending an answer. Each route has one.
enum AnswerCost: Sendable {
    /// Webhooks, `/health` and answers held in memory: never wait for other answers.
    case free
    /// A fixed, small answer: computed on its connection's thread.
    case light
    /// A listing of hundreds of items, or an answer that grows with its content. It is computed on a separate thread, within the limits of small
    /// answers.
    case list
    /// A page: computed on a thread of its own.
    case page
    /// A listing of thousands of items, or an export: computed on a separate thread, one at a time.
    case export
    /// An export that is kept as a file (`ExportAnswers`): computed like an export, sent like a file.
    case kept
    /// A file or a log, sent for as long as the client takes.
    case download
    /// Server-sent events, for as long as the client listens.
    case stream

    /// Whether the answer continues after it was computed, so that it must end when the client loses its right to it.
    var lasts: Bool { [.kept, .download, .stream].contains(self) }
}

/// The limits of clients' use of the service, shared by all addresses and the Unix socket. The manual has the table.
final class WebLimits: Sendable {
    /// The most connections at a time on one address.
    let connections: Int
    /// The most connections of one client, if they are counted for each client.
    let clientConnections: Int
    let clients: ClientResolver
    let light: AnswerSemaphore
    let pages: AnswerSemaphore
    let exports: AnswerSemaphore
    let streams: HolderLimit
    let downloads: HolderLimit
    /// Limits the bytes of answers that wait on the disk for their clients, with exports that are being computed or are not kept.
    let answers: HolderLimit
    /// Limits the bytes of answers that wait in memory for clients with a token or on the Unix socket, because the disk is full.
    let answersInMemory: HolderLimit
    /// Limits the bytes of webhooks' bodies that wait on the disk until they are complete.
    let bodies: HolderLimit
    let files: FileSender
    /// Writes webhooks' bodies only, so that no body waits for downloads on a slow disk.
    let bodyFiles = FileSender()
    let bodyTrouble: BodyTrouble
    /// The directory of the unnamed files with large answers and bodies.
    let directory: String
    private let threads: ComputingThreads

    /// Answers and webhooks' bodies up to this size are kept in memory; larger ones go to the disk.
    static let answerBytesInMemory = 64 << 10
    static let bodyBytesInMemory = 16 << 10
    /// The size of the kernel's buffer for an event stream; the kernel doubles it (socket(7), SO_SNDBUF).
    static let streamBytesInKernel = 64 << 10
    static let answerBytes: Int64 = 512 << 20
    static let answerBytesOfFullDisk: Int64 = 64 << 20
    static let bodyBytes: Int64 = 256 << 20
    /// The most large bodies, and large answers, of one client in progress.
    static let clientBodies = 8
    static let clientAnswers = 32

    /// - Parameters:
    /// - connections: The most connections at a time on one address.
    ///   - directory: A directory on the disk of the state.
    ///   - now: The clock for rates of clients.
    init(
        connections: Int, clients: ClientResolver = ClientResolver(), files: FileSender, directory: String,
        logger: Logger, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        (self.connections, self.clients, self.files, self.directory) = (connections, clients, files, directory)
        bodyTrouble = BodyTrouble(directory: directory, logger: logger)
        let threads = ComputingThreads()
        self.threads = threads
        clientConnections = max(1, connections / 4)
        let release: @Sendable () -> Void = { threads.releaseMemory() }
        light = AnswerSemaphore(count: 16, queue: 128, clientLimit: 32)
        pages = AnswerSemaphore(count: 2, queue: 64, clientLimit: 16, onIdle: release)
        exports = AnswerSemaphore(count: 1, queue: 16, clientLimit: 4, onIdle: release)
        let (long, ofClient) = (Int64(max(1, connections / 4)), max(1, connections / 16))
        streams = HolderLimit(
            total: long, clientLimit: ofClient, closesSlowest: false,
            refusal: "Too many are listening; ask for what you need instead.", now: now)
        downloads = HolderLimit(
            total: long, clientLimit: ofClient, refusal: "Too many downloads are under way; try again in a while.",
            now: now)
        answers = HolderLimit(
            total: Self.answerBytes, clientLimit: Self.clientAnswers,
            refusal: "Too many answers wait for their clients; ask again in a while.", now: now)
        answersInMemory = HolderLimit(
            total: Self.answerBytesOfFullDisk, clientLimit: Self.clientAnswers, refusal: Spool.fullDisk, now: now)
        bodies = HolderLimit(
            total: Self.bodyBytes, clientLimit: Self.clientBodies,
            refusal: "Too many large bodies are on their way; send it again in a while.", now: now)
    }

    /// Schedules returning free memory to the kernel.
    func releaseMemory() { threads.releaseMemory() }

    /// Computes an answer within the limits of its cost.
    /// - Throws: The errors of `compute`; 503 if a limit is reached.
    func answer(
        _ call: AuthorizedRequest, cost: AnswerCost, _ compute: @escaping @Sendable () async throws -> Response
    ) async throws -> Response {
        switch cost {
        // Kept exports observe the limits themselves.
        case .free, .kept: return try await compute()
        case .light:
            return try await turn(of: light, for: call) { try await compute().coded(for: call).spooled(for: call) }
        case .list: return try await computed(call, light) { try await compute().coded(for: call).spooled(for: call) }
        case .page: return try await computed(call, pages) { try await compute().coded(for: call).spooled(for: call) }
        case .export:
            return try await computed(call, exports) { try await compute().coded(for: call).spooled(for: call) }
        case .download: return try download(try await turn(of: light, for: call, compute), call)
        case .stream:
            let response = try await turn(of: light, for: call, compute)
            // If no more bytes follow, the length is known and this is not a stream.
            guard response.body.contentLength == nil else { return response }
            if !call.asker.isLocal {
                // Otherwise the kernel buffers megabytes for each client that does not read. If the option cannot be set, the stream works as well.
                try? await call.channel.setOption(.socketOption(.so_sndbuf), value: Self.streamBytesInKernel).get()
            }
            return try held(response, call, by: streams)
        }
    }

    /// Computes the page of a problem on a separate thread.
    /// - Returns: `nil` if too many answers are being computed.
    func problemPage(for asker: Asker, _ compute: @Sendable () async -> Response) async -> Response? {
        guard let turn = try? await light.acquire(asker) else { return nil }
        defer { withExtendedLifetime(turn) {} }
        return await withTaskExecutorPreference(threads) { await compute() }
    }

    /// Computes on separate threads, within a limit, until the client leaves.
    /// - Throws: The errors of `compute`; 503 if too many answers wait; `CancellationError` if the client left.
    func computed<Value: Sendable>(
        _ call: AuthorizedRequest, _ semaphore: AnswerSemaphore, _ compute: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await call.departure.canceling(on: threads) { [self] in
            try await turn(of: semaphore, for: call, compute)
        }
    }

    /// Computes within a limit.
    /// - Throws: The errors of `compute`; 503 if too many answers wait; `CancellationError` if the client left while it waited.
    func turn<Value: Sendable>(
        of semaphore: AnswerSemaphore, for call: AuthorizedRequest, _ compute: @Sendable () async throws -> Value
    ) async throws -> Value {
        let turn = try await semaphore.acquire(call.asker)
        defer { withExtendedLifetime(turn) {} }
        // No answer is computed for a client that left while it waited, or by a service that is stopping.
        guard call.channel.isActive, !Task.isCancelled else { throw CancellationError() }
        return try await compute()
    }

    /// Returns the same answer. If it is long, it holds a place among the downloads until it is sent.
    /// - Throws: 503 if there is no place.
    func download(_ response: Response, _ call: AuthorizedRequest) throws -> Response {
        let isLong = (response.body.contentLength ?? .max) > Self.answerBytesInMemory
        return isLong ? try held(response, call, by: downloads) : response
    }

    /// Returns the same answer, which holds a place until it is sent. Peers of the Unix socket are the operator's own, and need none.
    private func held(_ response: Response, _ call: AuthorizedRequest, by limit: HolderLimit) throws -> Response {
        if call.asker.isLocal { return response }
        let holder = try limit.hold(1, for: call.asker, on: call.channel, call.progress)
        let body = response.body
        return Response(
            status: response.status, headers: response.headers,
            body: ResponseBody(contentLength: body.contentLength) { writer in
                try await body.write(writer)
                withExtendedLifetime(holder) {}
            })
    }
}
