import CLibCurl
import Glibc
import Synchronization

/// A libcurl multi handle and its thread. Only that thread uses the multi handle and the transfers' easy handles.
///
/// Other threads send commands, which wake it from `curl_multi_poll`.
final class CurlEngine: Sendable {
    private enum Command: Sendable {
        case start(CurlTransfer)
        case resume(UInt64)
        case cancel(UInt64)
    }

    private struct State {
        var commands: [Command] = []
        var isStopping = false
        /// Set under the lock before the multi handle is freed, so that a freed handle is never woken.
        var isGone = false
        var lastID: UInt64 = 0
    }

    private let state = Mutex(State())
    // Only curl_multi_wakeup(3) may be called from other threads. Everything else is called on the engine's thread.
    private nonisolated(unsafe) let multi: UnsafeMutableRawPointer

    /// Initializes libcurl once per process. That is thread-safe since 7.84 (curl_global_init(3));
    /// CURLOPT_PROTOCOLS_STR needs at least 7.85.
    private static let isLibraryReady = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK

    /// Starts the thread.
    init() throws(TransferError) {
        guard Self.isLibraryReady, let multi = curl_multi_init() else {
            throw TransferError(
                code: .other, operation: "start of libcurl", message: "it could not be initialized; is memory short?")
        }
        self.multi = multi
        var thread = pthread_t()
        let box = Unmanaged.passRetained(self)
        let result = pthread_create(
            &thread, nil,
            { box in
                guard let box else { return nil }
                let engine = Unmanaged<CurlEngine>.fromOpaque(box).takeRetainedValue()
                engine.run()
                return nil
            }, box.toOpaque())
        guard result == 0 else {
            box.release()
            curl_multi_cleanup(multi)
            throw TransferError(
                code: .other, operation: "start of libcurl", message: "no thread: " + String(cString: strerror(result)))
        }
        pthread_detach(thread)
    }

    /// Returns a number for a new transfer.
    func nextID() -> UInt64 {
        state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
    }

    /// Takes over a transfer, which from then on only the engine's thread uses. The transfer ends exactly once.
    func start(_ transfer: CurlTransfer) {
        if !send(.start(transfer)) { transfer.end(.failure(transfer.canceled)) }
    }

    /// Resumes a transfer that was paused by its reader.
    func resume(_ id: UInt64) { _ = send(.resume(id)) }

    /// Ends a transfer as canceled, unless it has ended.
    func cancel(_ id: UInt64) { _ = send(.cancel(id)) }

    /// Whether a transfer that blocks the thread is to end. The command to cancel it is still queued then.
    private func isUnwanted(_ id: UInt64) -> Bool {
        state.withLock { state in
            state.isStopping
                || state.commands.contains { if case .cancel(let canceled) = $0 { canceled == id } else { false } }
        }
    }

    /// Cancels all transfers and ends the thread.
    func stop() {
        state.withLock { state in
            state.isStopping = true
            if !state.isGone { curl_multi_wakeup(multi) }
        }
    }

    private func send(_ command: Command) -> Bool {
        state.withLock { state in
            guard !state.isStopping else { return false }
            state.commands.append(command)
            curl_multi_wakeup(multi)
            return true
        }
    }

    // MARK: On the thread

    /// Returns the longest wait for an event, in milliseconds. libcurl 7.88 misses some events of ftps on a busy machine, so a transfer goes on
    /// after a second at the latest. Without a transfer there is no event to miss.
    static func wait(transfers: Int) -> Int32 { transfers == 0 ? 60_000 : 1000 }

    private func run() {
        var transfers: [UInt64: CurlTransfer] = [:]
        var isStopping = false
        while !isStopping {
            let commands = state.withLock { state in
                isStopping = state.isStopping
                defer { state.commands = [] }
                return state.commands
            }
            for command in commands { obey(command, &transfers) }
            var running: Int32 = 0
            curl_multi_perform(multi, &running)
            collect(&transfers)
            // libcurl's own timers shorten the wait; commands and sockets end it.
            if !isStopping { curl_multi_poll(multi, nil, 0, Self.wait(transfers: transfers.count), nil) }
        }
        for transfer in transfers.values {
            curl_multi_remove_handle(multi, transfer.handle)
            transfer.end(.failure(transfer.canceled))
        }
        transfers = [:]
        state.withLock { state in
            for case .start(let transfer) in state.commands { transfer.end(.failure(transfer.canceled)) }
            state.commands = []
            state.isGone = true
        }
        curl_multi_cleanup(multi)
    }

    private func obey(_ command: Command, _ transfers: inout [UInt64: CurlTransfer]) {
        switch command {
        case .start(let transfer):
            transfer.isUnwanted = { [unowned self, id = transfer.id] in isUnwanted(id) }
            do throws(TransferError) {
                try transfer.prepare()
            } catch {
                transfer.end(.failure(error))
                return
            }
            guard curl_multi_add_handle(multi, transfer.handle) == CURLM_OK else {
                transfer.end(.failure(transfer.failure(.other, "libcurl did not take the transfer")))
                return
            }
            transfers[transfer.id] = transfer
        case .resume(let id):
            if let handle = transfers[id]?.handle { curl_easy_pause(handle, CURLPAUSE_CONT) }
        case .cancel(let id):
            guard let transfer = transfers.removeValue(forKey: id) else { return }
            curl_multi_remove_handle(multi, transfer.handle)
            transfer.end(.failure(transfer.canceled))
        }
    }

    private func collect(_ transfers: inout [UInt64: CurlTransfer]) {
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle else { continue }
            // The result is read before the handle is removed, which frees the message (curl_multi_info_read(3)).
            let result = clibcurl_message_result(message)
            guard let id = transfers.first(where: { $0.value.handle == handle })?.key,
                let transfer = transfers.removeValue(forKey: id)
            else { continue }
            curl_multi_remove_handle(multi, handle)
            transfer.finish(result)
        }
    }
}
