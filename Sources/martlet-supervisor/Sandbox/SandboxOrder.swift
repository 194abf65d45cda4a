import JobProtocol

/// What the first process within a sandbox is asked to run. It travels in an anonymous file, since it holds secrets.
struct SandboxOrder: Equatable {
    var arguments: [String]
    var environment: [String: String]
    /// Where the workspace is within the sandbox.
    var workspace: String
    /// Relative to the workspace.
    var directory: String
    /// Of the workspace, as the supervisor has it open: what is mounted must be that very directory.
    var device: UInt64
    var inode: UInt64
    /// RLIMIT_NPROC, counted within the sandbox; `nil` if a control group counts the processes.
    var processes: Int?
    /// What is of a limited size, looked at when the command has failed.
    var sized: [String]
    /// Whether the supervisor is told, by `SandboxReport.ready`, when the sandbox is made: before, bubblewrap still has to do with its network.
    var tellsReady = false

    func json() -> [UInt8] {
        var members: [String: JSON] = [
            "arguments": .array(arguments.map(JSON.string)), "environment": .object(environment.mapValues(JSON.string)),
            "workspace": .string(workspace), "directory": .string(directory),
            "device": .integer(Int64(bitPattern: device)), "inode": .integer(Int64(bitPattern: inode)),
        ]
        if tellsReady { members["tellsReady"] = .bool(true) }
        members["sized"] = .array(sized.map(JSON.string))
        members["processes"] = processes.map { .integer(Int64($0)) }
        return JSON.object(members).bytes()
    }

    /// Returns `nil` if the bytes are not such an order.
    init?(json bytes: [UInt8]) {
        guard let value = try? JSON(bytes, limit: .max), let arguments = value["arguments"]?.elements,
            let environment = value["environment"]?.members, let workspace = value["workspace"]?.text,
            let directory = value["directory"]?.text, let device = value["device"]?.integer,
            let inode = value["inode"]?.integer
        else { return nil }
        self.arguments = arguments.compactMap(\.text)
        self.environment = environment.compactMapValues(\.text)
        self.workspace = workspace
        self.directory = directory
        self.device = UInt64(bitPattern: device)
        self.inode = UInt64(bitPattern: inode)
        tellsReady = value["tellsReady"]?.boolean ?? false
        sized = value["sized"]?.elements?.compactMap(\.text) ?? []
        processes = value["processes"]?.integer.flatMap { Int(exactly: $0) }
    }

    init(
        arguments: [String], environment: [String: String], workspace: String, directory: String, device: UInt64,
        inode: UInt64, processes: Int?, sized: [String]
    ) {
        self.arguments = arguments
        self.environment = environment
        self.workspace = workspace
        self.directory = directory
        self.device = device
        self.inode = inode
        self.processes = processes
        self.sized = sized
    }
}

/// What the first process within a sandbox says, one line, when the step's main process has ended or could not be started.
enum SandboxReport: Error, Equatable {
    /// `full`: what the command that failed had filled, in the words of a limit.
    case ended(exit: Int32?, signal: Int32?, usage: StatusEvent.Usage, full: String?)
    /// The command is not there, or cannot be run.
    case noCommand(number: Int32)
    /// Its working directory is not there, or a link leads to it.
    case noDirectory(number: Int32)
    /// The sandbox is not as it was asked for.
    case broken(String)

    /// Said before any other, where the order wants it.
    static let ready = Array("{\"ready\":true}\n".utf8)

    func line() -> [UInt8] {
        let value: JSON
        switch self {
        case .ended(let exit, let signal, let usage, let full):
            var members: [String: JSON] = [
                "exit": exit.map { .integer(Int64($0)) } ?? .null,
                "signal": signal.map { .integer(Int64($0)) } ?? .null,
                "user": .integer(usage.userMilliseconds), "system": .integer(usage.systemMilliseconds),
                "memory": .integer(usage.maximumResidentBytes),
            ]
            members["full"] = full.map(JSON.string)
            value = .object(members)
        case .noCommand(let number): value = .object(["noCommand": .integer(Int64(number))])
        case .noDirectory(let number): value = .object(["noDirectory": .integer(Int64(number))])
        case .broken(let reason): value = .object(["broken": .string(reason)])
        }
        return value.bytes() + [0x0A]
    }

    /// - Parameter text: All that came through the pipe. Bubblewrap's own complaints come through it too, and end before
    ///   the first process within begins.
    init?(_ text: [UInt8]) {
        guard let line = text.split(separator: 0x0A).last, line.first == UInt8(ascii: "{"),
            let value = try? JSON(line, limit: 64 * 1024)
        else { return nil }
        func number(_ key: String) -> Int32? { value[key]?.integer.flatMap { Int32(exactly: $0) } }
        if let reason = value["broken"]?.text {
            self = .broken(reason)
        } else if let error = number("noCommand") {
            self = .noCommand(number: error)
        } else if let error = number("noDirectory") {
            self = .noDirectory(number: error)
        } else if number("exit") != nil || number("signal") != nil {
            self = .ended(
                exit: number("exit"), signal: number("signal"),
                usage: .init(
                    userMilliseconds: value["user"]?.integer ?? 0, systemMilliseconds: value["system"]?.integer ?? 0,
                    maximumResidentBytes: value["memory"]?.integer ?? 0),
                full: value["full"]?.text)
        } else {
            return nil
        }
    }
}
