import Glibc

extension Directory {
    /// Sets the permissions of a directory beneath this one, or of this one (`.`).
    /// - Parameter mode: The exact mode, regardless of the umask.
    package func setMode(_ mode: UInt16, ofDirectory path: some RelativePath) throws(FileError) {
        let opened = try directory(path)
        guard fchmod(opened.descriptor, mode_t(mode)) == 0 else {
            throw FileError(operation: "chmod", path: opened.path, errno: errno)
        }
    }
}
