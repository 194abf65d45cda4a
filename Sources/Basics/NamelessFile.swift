import CLinux

/// Files without a name: nothing of them is left when the process ends, however it does.
package enum NamelessFile {
    /// Makes a file in a directory, for reading and writing. Blocks for the time of the disk.
    /// - Returns: Its descriptor, which the caller closes; -1 and `errno` on failure.
    package static func open(in directory: String) -> Int32 { clinux_nameless_file(directory) }
}

/// Memory that is free and still counts as the process's.
package enum GivenBackMemory {
    /// Gives it to the kernel. Takes some milliseconds, and other threads' allocations wait meanwhile.
    package static func trim() { clinux_trim_memory() }
}
