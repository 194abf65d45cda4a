import Glibc

/// The files in the directory of a job. They are read by a step of the job, which has the job's rights only.
enum JobFiles {
    /// Returns the names in a directory, sorted, without those that are not UTF-8; empty if it cannot be read.
    static func names(in directory: String) -> [String] { Tree.names(in: directory).sorted() }

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
