package import Basics
package import Execution

extension AttemptDirectory {
    /// Reads a file that `artifacts()` or `reports(ofStep:)` returned.
    /// - Parameter limit: The size limit in bytes.
    package func read(_ file: File, limit: Int) throws(FileError) -> [UInt8] {
        try Directory(opening: path).read(file.location, limit: limit)
    }
}
