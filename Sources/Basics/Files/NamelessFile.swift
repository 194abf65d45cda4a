import CLinux

/// A file without a name. The kernel removes it when its descriptor is closed, so also when the process ends in any
/// way.
package enum NamelessFile {
    /// Creates a file without a name in a directory, for reading and writing. Blocks for the time of the disk.
    /// - Returns: The descriptor, which the caller closes; -1 on failure, with `errno` set.
    package static func open(in directory: String) -> Int32 { clinux_nameless_file(directory) }
}

/// Memory that was freed but that the kernel still counts as the process's.
package enum GivenBackMemory {
    /// Returns free memory to the kernel. Takes some milliseconds, during which allocations of other threads wait.
    package static func trim() { clinux_trim_memory() }
}
