/// An object of libgit2 that is freed when this goes out of scope.
///
/// Give it a name before using its pointer: a temporary is freed as soon as the pointer has been read.
struct GitHandle: ~Copyable {
    let pointer: OpaquePointer
    private let free: (OpaquePointer?) -> Void

    /// - Parameters:
    ///   - make: A libgit2 call that stores an object.
    ///   - free: What frees it; called with the object.
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
