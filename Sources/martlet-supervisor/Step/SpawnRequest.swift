import CLinux
import Glibc
import Processes

/// The way to start a command: in a new session, without standard input, and only with the listed descriptors. See `clinux_spawn`.
struct SpawnRequest {
    /// The user that a command runs as.
    struct Identity {
        let user: UInt32
        let group: UInt32
    }

    var arguments: [String]
    var environment: [String: String]
    /// The open working directory.
    var directory: Int32
    /// The descriptors that become 1 (`output`) and 2 (`errors`).
    var output: Int32
    var errors: Int32
    /// Descriptors that become 3, 4 …
    var kept: [Int32] = []
    /// The control group it runs in.
    var group: ControlGroup?
    /// `nil`: this process's user.
    var identity: Identity?
    var dropsCapabilities = false
    /// The largest size of a file that it writes, in bytes.
    var fileBytes: Int64?
    /// The most processes of its user, including threads.
    var processes: Int?
    /// The most descriptors of each of its processes.
    var openFiles: Int?
    /// The most queued signals, and the most bytes of POSIX message queues, of its user within its user namespace.
    var pendingSignals: Int?
    var messageBytes: Int?
    /// The descriptor of a `Gate`, at which the process waits before it becomes the command.
    var gate: Int32?

    /// The reason why a command was not started.
    struct Failure: Error {
        let error: SystemError
        /// The command itself does not exist or cannot be executed; no earlier step failed.
        let isCommand: Bool
    }

    /// Starts the command.
    /// - Parameter meanwhile: Called while the process is created, before it is known whether it became the command. It opens the gate. It is not
    ///   called if no process can be created.
    /// - Returns: The process number, or the reason why it could not be started.
    func start(meanwhile: () -> Void = {}) -> Result<Int32, Failure> {
        var (number, told): (Int32, Int32) = (0, -1)
        let child = CommandVector.withStrings(arguments) { arguments in
            CommandVector.withStrings(environment.map { $0.key + "=" + $0.value }.sorted()) { environment in
                kept.withUnsafeBufferPointer { kept in
                    (group?.entrances ?? []).withUnsafeBufferPointer { groups in
                        var request = clinux_spawn_request(
                            arguments: arguments, environment: environment, directory: directory, output: output,
                            errors: errors, keep: kept.baseAddress, keep_count: kept.count, groups: groups.baseAddress,
                            group_count: groups.count, birthplace: group?.birthplace ?? 0,
                            user: identity.map { Int64($0.user) } ?? -1,
                            group: identity.map { Int64($0.group) } ?? -1,
                            drops_capabilities: dropsCapabilities ? 1 : 0,
                            file_bytes: fileBytes ?? -1, processes: processes.map { Int64($0) } ?? -1, address_bytes: 0,
                            open_files: openFiles.map { Int64($0) } ?? 0,
                            pending_signals: pendingSignals.map { Int64($0) } ?? 0,
                            message_bytes: messageBytes.map { Int64($0) } ?? 0, gate: gate ?? 0)
                        return clinux_spawn_begin(&request, &told, &number)
                    }
                }
            }
        }
        if child >= 0 { meanwhile() }
        let pid = child < 0 ? child : clinux_spawn_end(child, told, &number)
        guard pid < 0 else { return .success(pid) }
        return .failure(
            Failure(error: SystemError(number: number), isCommand: pid == Int32(CLINUX_SPAWN_NO_COMMAND)))
    }
}

extension CommandVector {
    /// Replaces this process with a program. Returns only if that failed.
    static func become(_ path: String, _ arguments: [String], keeping descriptors: [Int32]) {
        var environment: [String] = []
        #if DEBUG
            // A supervisor has no environment; tests use this variable to choose a failpoint.
            if let file = getenv("MARTLET_FAILPOINT") { environment = ["MARTLET_FAILPOINT=" + String(cString: file)] }
        #endif
        withStrings(arguments) { arguments in
            withStrings(environment) { clinux_become(path, arguments, $0, descriptors, descriptors.count) }
        }
    }
}
