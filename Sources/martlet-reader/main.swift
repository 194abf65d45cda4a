import CLinux
import Glibc
import Reports

// martlet-reader BYTES SECONDS: reads the output and reports of a job's steps on standard input (`ReadingRequest`), and writes their contents to
// standard output (`ReadingAnswer`). The daemon starts one process for each attempt. The input is not trusted, so the process drops all other rights.
// The two arguments limit its memory in bytes and its processor time in seconds.

/// Prints a message and exits. The status is one of sysexits(3).
func end(_ status: Int32, _ text: String) -> Never {
    var text = "martlet-reader: \(text)\n"
    text.withUTF8 { _ = write(2, $0.baseAddress, $0.count) }
    exit(status)
}

/// Reads exactly `count` bytes from standard input; `nil` if the input ends before.
func readBytes(_ count: Int) -> [UInt8]? {
    var isAtEnd = false
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
        while filled < count, let base = buffer.baseAddress {
            let result = read(0, base + filled, count - filled)
            if result > 0 {
                filled += result
            } else if result == 0 || errno != EINTR {
                isAtEnd = true
                return
            }
        }
    }
    return isAtEnd ? nil : bytes
}

func writeBytes(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { buffer in
        var written = 0
        while written < buffer.count, let base = buffer.baseAddress {
            let result = write(1, base + written, buffer.count - written)
            if result >= 0 { written += result } else if errno != EINTR { exit(74) }
        }
    }
}

let arguments = CommandLine.arguments
guard arguments.count == 3, let memory = Int64(arguments[1]), let seconds = Int64(arguments[2]), memory > 0, seconds > 0
else { end(64, "usage: martlet-reader BYTES SECONDS, started by martlet") }
let confined = clinux_confine(memory, seconds)
guard confined >= 0 else { end(71, "it cannot be confined: error \(errno)") }

var session = ReadingSession(isFiltered: confined > 0)
do throws(WireError) {
    while !session.isOver {
        guard let bytes = readBytes(ReadingRequest.headBytes) else { exit(66) }
        let head = try ReadingRequest.head(bytes)
        guard let record = readBytes(head.count) else { exit(66) }
        writeBytes(try session.consume(head.kind, record))
    }
} catch {
    end(76, error.description)
}
exit(0)
