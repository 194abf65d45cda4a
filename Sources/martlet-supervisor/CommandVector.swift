import CLinux
import Glibc

/// The arrays of C strings that starting a program takes.
enum CommandVector {
    /// Returns only when it failed.
    static func become(_ path: String, _ arguments: [String], keeping descriptors: [Int32]) {
        var environment: [String] = []
        #if DEBUG
            // A supervisor has none; in tests it is told where to stop.
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
        // An array that is passed for a pointer is never a null pointer, and it lives as long as the call.
        return body(pointers)
    }
}
