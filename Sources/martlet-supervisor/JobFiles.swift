import Glibc

/// What lies in the directory of a job, for a step that runs in it and so has no more rights than the job.
enum JobFiles {
    /// The names in a directory, sorted, without those that are no UTF-8; none when it cannot be read.
    static func names(in directory: String) -> [String] { Tree.names(in: directory).sorted() }

    /// Every regular file beneath a directory, sorted; links are not followed.
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
