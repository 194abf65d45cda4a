import Basics
import CLinux
import Glibc

/// A program that runs to its end on the queue's thread. It is killed with all processes that it started if the operation is stopped.
struct ChildProcess {
    /// The arguments. The first one is the program's absolute path.
    var arguments: [String]
    /// The complete environment.
    var environment: [String: String]
    /// Its working directory.
    var directory: String
    /// The contents that the program can read from descriptors 3, 4 and so on. They are for secrets: this memory is in no file system, and no process
    /// listing shows it.
    var memory: [[UInt8]] = []
    /// The largest size of a file that it writes, in bytes; `nil` for no limit.
    var fileBytes: Int64?
    /// The largest size of its address space, and of each of its children's, in bytes; `nil` for no limit.
    var addressBytes: Int64?

    /// Whether it may be silent without a time limit, because it does not communicate with a server.
    var isQuiet = false

    /// The largest standard output in bytes, if no limits state another. Above it the program is killed. 200,000 refs with names of 250 bytes take 60
    /// MB.
    static let maximumOutput: Int64 = 128 << 20
    /// The number of bytes at the end of standard error that are kept.
    static let keptErrors = 64 << 10

    struct Result {
        /// The exit status. If the program was killed, it is 128 plus the signal's number, as in a shell.
        let status: Int32
        let output: [UInt8]
        let errors: String
    }

    /// Runs the program to its end. A status other than 0 is not an error.
    /// - Throws: `file` if it cannot be started, `tooLarge` if it writes too much.
    func run(_ operation: String, control: NetworkControl?) throws(SourceControlError) -> Result {
        // All of these are closed, whatever fails.
        var (ends, files): ([Int32], [Int32]) = ([], [])
        defer { (ends + files).forEach { close($0) } }
        let output = try pipe(operation)
        ends += [output.read, output.write]
        let errors = try pipe(operation)
        ends += [errors.read, errors.write]
        for bytes in memory { files.append(try memoryFile(bytes, operation)) }
        let process = try spawn(operation, output: output.write, errors: errors.write, files: files)
        // The parent's copies are closed; otherwise the ends of the output would never be detected.
        ends = [output.read, errors.read]
        close(output.write)
        close(errors.write)
        if control?.add(process: process, isQuiet: isQuiet) == false { kill(-process, SIGKILL) }
        let said = read(output.read, errors.read, of: process, control)
        let status = wait(for: process, control)
        guard !said.isTooMuch else {
            throw SourceControlError(
                code: .tooLarge, operation: operation, message: "git printed more than is allowed")
        }
        return Result(status: status, output: said.output, errors: String(decoding: said.errors, as: UTF8.self))
    }

    private func failure(_ operation: String, _ what: String, _ number: Int32) -> SourceControlError {
        SourceControlError(
            code: .file, operation: operation, message: "\(what): \(String(cString: strerror(number)))")
    }

    private func pipe(_ operation: String) throws(SourceControlError) -> (read: Int32, write: Int32) {
        var ends: [Int32] = [-1, -1]
        guard clinux_pipe(&ends) == 0 else { throw failure(operation, "no pipe could be made", errno) }
        return (ends[0], ends[1])
    }

    /// Returns a file in memory with mode 0600, because ssh refuses a key that others can read.
    private func memoryFile(_ bytes: [UInt8], _ operation: String) throws(SourceControlError) -> Int32 {
        let file = clinux_memory_file("git")
        guard file >= 0, clinux_fcntl(file, F_SETFD, FD_CLOEXEC) == 0, fchmod(file, 0o600) == 0 else {
            let number = errno
            if file >= 0 { close(file) }
            throw failure(operation, "no memory could be reserved for a secret", number)
        }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let number = errno
                close(file)
                throw failure(operation, "no memory could be reserved for a secret", number)
            }
            rest = rest.dropFirst(count)
        }
        return file
    }

    private func spawn(_ operation: String, output: Int32, errors: Int32, files: [Int32]) throws(SourceControlError)
        -> pid_t
    {
        let place = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard place >= 0 else { throw failure(operation, "opening \(directory)", errno) }
        defer { close(place) }
        var strings = arguments.map { strdup($0) } + [nil]
        var variables = environment.sorted { $0.key < $1.key }.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { (strings + variables).forEach { free($0) } }
        var number: Int32 = 0
        let process = strings.withUnsafeMutableBufferPointer { strings in
            variables.withUnsafeMutableBufferPointer { variables in
                files.withUnsafeBufferPointer { files in
                    var request = clinux_spawn_request()
                    request.arguments = strings.baseAddress.map { UnsafePointer($0) }
                    request.environment = variables.baseAddress.map { UnsafePointer($0) }
                    request.directory = place
                    request.output = output
                    request.errors = errors
                    request.keep = files.baseAddress
                    request.keep_count = files.count
                    (request.user, request.group, request.processes) = (-1, -1, -1)
                    request.file_bytes = fileBytes ?? -1
                    request.address_bytes = addressBytes ?? 0
                    return clinux_spawn(&request, &number)
                }
            }
        }
        guard process > 0 else { throw failure(operation, "starting \(arguments.first ?? "")", number) }
        return process
    }

    // MARK: While it runs

    private func read(_ output: Int32, _ errors: Int32, of process: pid_t, _ control: NetworkControl?) -> (
        output: [UInt8], errors: [UInt8], isTooMuch: Bool
    ) {
        let limit = control?.limits.listBytes ?? Self.maximumOutput
        var (printed, said, isTooMuch): ([UInt8], [UInt8], Bool) = ([], [], false)
        var waiting = [output, errors].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while waiting.contains(where: { $0.fd >= 0 }) {
            guard poll(&waiting, nfds_t(waiting.count), -1) > 0 else { continue }
            for index in waiting.indices where waiting[index].fd >= 0 && waiting[index].revents != 0 {
                let count = Glibc.read(waiting[index].fd, &buffer, buffer.count)
                if count < 0, errno == EAGAIN || errno == EINTR { continue }
                guard count > 0 else {
                    waiting[index].fd = -1
                    continue
                }
                // git prints its progress all the time. If no data comes from the server, it is silent.
                if !isQuiet { control?.heard() }
                if index == 0 {
                    printed += buffer[..<count]
                    if printed.count > limit {
                        isTooMuch = true
                        kill(-process, SIGKILL)
                    }
                } else {
                    said += buffer[..<count]
                    if said.count > 2 * Self.keptErrors { said.removeFirst(said.count - Self.keptErrors) }
                }
            }
        }
        return (isTooMuch ? [] : printed, said.suffix(Self.keptErrors), isTooMuch)
    }

    /// Waits for the process, first without reaping it. As long as it is not reaped, its number refers to this process in `stop`.
    private func wait(for process: pid_t, _ control: NetworkControl?) -> Int32 {
        var information = siginfo_t()
        while waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        control?.remove(process: process)
        // This kills the processes that it left in its session.
        kill(-process, SIGKILL)
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return clinux_wait_has_exited(status) != 0
            ? clinux_wait_exit_status(status) : 128 + clinux_wait_signal(status)
    }
}
