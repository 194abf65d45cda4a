import Glibc

/// The arrays of C strings for starting a program.
package enum CommandVector {
    /// Calls `body` with a null-terminated array of C strings, which lives as long as the call.
    package static func withStrings<Value>(
        _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Value
    ) -> Value {
        var pointers: [UnsafeMutablePointer<CChar>?] = strings.map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        pointers.append(nil)
        // An array that is passed as a pointer is never a null pointer, and it lives as long as the call.
        return body(pointers)
    }
}
