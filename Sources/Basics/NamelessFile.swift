import CLinux

/// Files without a name: the kernel removes them when the process ends, however it ends.
package enum NamelessFile {
    /// Creates a file without a name in a directory, for reading and writing. Blocks for the time of the disk.
    /// - Returns: Its descriptor, which the caller closes; on failure -1, with `errno`.
    package static func open(in directory: String) -> Int32 { clinux_nameless_file(directory) }
}

/// Free memory that the kernel still counts as the process's.
package enum GivenBackMemory {
    /// Returns free memory to the kernel. Takes some milliseconds, during which other threads' allocations wait.
    package static func trim() { clinux_trim_memory() }
}
