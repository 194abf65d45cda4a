import Basics
import Glibc
import Transfer

/// What the uploads of one trigger have to know again after a restart: a small file a place, in a directory of the integration's.
struct UploadNotes: UploadMemory {
    /// Absolute; made when there is something to keep, and removed with the last.
    let directory: String
    private let lane = BlockingLane(label: "upload-notes")
    /// In bytes: of 1,000 parts a line each, of 100 bytes or so.
    private static let limit = 256 << 10

    init(directory: String) { self.directory = directory }

    func recall(_ place: String) async -> String? {
        let (path, limit) = (path(place), Self.limit)
        return await lane.run {
            guard let bytes = try? WholeFile.read(path, limit: limit) else { return nil }
            return String(validating: bytes, as: UTF8.self)
        }
    }

    func keep(_ text: String?, of place: String) async {
        let (path, directory) = (path(place), directory)
        await lane.run {
            if let text {
                // Where the disk is full the next process begins anew; what this one does is right all the same.
                guard (try? Directory(creating: directory, mode: 0o700)) != nil else { return }
                try? AtomicFile.write(Array(text.utf8), to: path, mode: 0o600)
            } else if unlink(path) == 0 {
                rmdir(directory)
            }
        }
    }

    private func path(_ place: String) -> String { "\(directory)/\(UploadOptions.session(of: [place]))" }
}
