import Glibc

/// The files in the directory of a job. They are read by a step of the job, which has the job's rights only.
enum JobFiles {
    /// The most names of a directory.
    private static let entryLimit = 2_000_000

    /// Returns the names in a directory, sorted, without those that are not UTF-8; empty if it cannot be read or has more than `entryLimit`.
    static func names(in directory: String) -> [String] {
        guard let stream = opendir(directory) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let next = readdir(stream) {
            guard names.count < entryLimit else { return [] }
            let name = withUnsafePointer(to: &next.pointee.d_name) { tuple in
                tuple.withMemoryRebound(to: UInt8.self, capacity: 256) {
                    String(validating: UnsafeBufferPointer(start: $0, count: strlen(tuple)), as: UTF8.self)
                }
            }
            if let name, name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// Returns every regular file below a directory, sorted. Links are not followed.
    static func files(beneath directory: String) -> [String] {
        var files: [String] = []
        var pending = [directory]
        while let directory = pending.popLast() {
            for name in names(in: directory) {
                let path = directory + "/" + name
                var status = stat()
                guard lstat(path, &status) == 0 else { continue }
                if status.st_mode & S_IFMT == S_IFDIR { pending.append(path) }
                if status.st_mode & S_IFMT == S_IFREG { files.append(path) }
            }
        }
        return files.sorted()
    }
}
