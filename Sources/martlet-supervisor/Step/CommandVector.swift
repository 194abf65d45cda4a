import CLinux
import Glibc

/// The arrays of C strings for starting a program.
enum CommandVector {
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

    static func withStrings<Value>(
        _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Value
    ) -> Value {
        var pointers: [UnsafeMutablePointer<CChar>?] = strings.map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        pointers.append(nil)
        // An array that is passed as a pointer is never a null pointer, and it lives as long as the call.
        return body(pointers)
    }
}
