import Basics
import Glibc
import Transfer

/// Stores what the uploads of one trigger must know after a restart. There is a small file for each destination, in a directory of the integration's.
struct UploadNotes: UploadStateStore {
    /// The absolute path. It is created with the first file, and removed with the last.
    let directory: String
    private let queue = SerialQueue(label: "upload-notes")
    /// The largest size of a file, in bytes. It has a line of about 100 bytes for each of up to 1000 parts.
    private static let limit = 256 << 10

    init(directory: String) { self.directory = directory }

    func load(_ place: String) async -> String? {
        let (path, limit) = (path(place), Self.limit)
        return await queue.run {
            guard let bytes = try? WholeFile.read(path, limit: limit) else { return nil }
            return String(validating: bytes, as: UTF8.self)
        }
    }

    func save(_ text: String?, of place: String) async {
        let (path, directory) = (path(place), directory)
        await queue.run {
            if let text {
                // If the disk is full, the next process starts the upload again. This process is not affected.
                guard (try? Directory(creating: directory, mode: 0o700)) != nil else { return }
                try? AtomicFile.write(Array(text.utf8), to: path, mode: 0o600)
            } else if unlink(path) == 0 {
                rmdir(directory)
            }
        }
    }

    private func path(_ place: String) -> String { "\(directory)/\(UploadOptions.session(of: [place]))" }
}
