/// A mirror's repository that is open as long as this object lives, for many at once: `GitHandle` cannot be in an array.
final class OpenRepository {
    private let handle: GitHandle
    let pointer: OpaquePointer

    init(_ store: MirrorStore) throws(SourceControlError) {
        handle = try store.opened()
        pointer = handle.pointer
    }
}
