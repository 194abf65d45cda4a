/// An object of libgit2 that is freed when the handle goes out of scope.
///
/// The handle must be assigned to a variable before its pointer is used. A temporary is freed as soon as its pointer has been read.
struct GitHandle: ~Copyable {
    let pointer: OpaquePointer
    private let free: (OpaquePointer?) -> Void

    /// - Parameters:
    ///   - make: A libgit2 call that stores an object.
    ///   - free: The function that frees it.
    init(
        _ operation: String, free: @escaping (OpaquePointer?) -> Void,
        make: (UnsafeMutablePointer<OpaquePointer?>) -> Int32
    ) throws(SourceControlError) {
        var made: OpaquePointer?
        try git(operation) { make(&made) }
        guard let made else {
            throw SourceControlError(code: .other, operation: operation, message: "libgit2 made nothing")
        }
        pointer = made
        self.free = free
    }

    deinit { free(pointer) }
}
