import CLinux
import Glibc

/// The arrays of C strings that starting a program takes.
enum CommandVector {
    /// - Parameter output: And `errors`: descriptors that become 1 and 2.
    /// - Returns: The process, or why it could not be started.
    static func spawn(
        _ arguments: [String], environment: [String: String], directory: Int32, output: Int32, errors: Int32
    ) -> Result<Int32, SystemError> {
        var number: Int32 = 0
        let pid = withStrings(arguments) { arguments in
            withStrings(environment.map { $0.key + "=" + $0.value }.sorted()) { environment in
                clinux_spawn(arguments, environment, directory, output, errors, &number)
            }
        }
        return pid < 0 ? .failure(SystemError(number: number)) : .success(pid)
    }

    /// Returns only when it failed.
    static func become(_ path: String, _ arguments: [String], keeping descriptors: [Int32]) {
        withStrings(arguments) { arguments in
            withStrings([]) { clinux_become(path, arguments, $0, descriptors, descriptors.count) }
        }
    }

    private static func withStrings<Value>(
        _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Value
    ) -> Value {
        var pointers: [UnsafeMutablePointer<CChar>?] = strings.map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        pointers.append(nil)
        // An array that is passed for a pointer is never a null pointer, and it lives as long as the call.
        return body(pointers)
    }
}
