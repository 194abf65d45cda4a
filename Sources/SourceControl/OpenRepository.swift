/// A mirror's repository that is open as long as this object lives, for many at once: `GitHandle` cannot be in an array.
///
/// Used by one lane at a time, which is what makes it safe to hand on.
final class OpenRepository: @unchecked Sendable {
    private let handle: GitHandle
    let pointer: OpaquePointer

    convenience init(_ store: MirrorStore) throws(SourceControlError) { self.init(try store.opened()) }

    init(_ handle: consuming GitHandle) {
        pointer = handle.pointer
        self.handle = handle
    }
}
