import Synchronization

/// A multipart upload: its id at the server, and the parts that the server accepted.
struct S3Record: Sendable, Hashable {
    /// A part as it was sent, and its ETag. The ETag is not the MD5 if the server encrypts with a key of its own.
    struct Part: Sendable, Hashable {
        let md5: String
        let tag: String
    }

    let upload: String
    var parts: [Int: Part] = [:]

    init(upload: String) { self.upload = upload }

    /// Parses `text`.
    /// - Returns: `nil` if it is damaged.
    init?(_ text: String) {
        let lines = text.split(separator: "\n")
        guard let first = lines.first else { return nil }
        upload = String(first)
        for line in lines.dropFirst() {
            let words = line.split(separator: " ").map(String.init)
            guard words.count == 3, let number = Int(words[0]) else { return nil }
            parts[number] = Part(md5: words[1], tag: words[2])
        }
    }

    /// The upload's id, followed by one line per part.
    var text: String {
        ([upload] + parts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.md5) \($0.value.tag)" })
            .joined(separator: "\n")
    }
}

/// The multipart uploads of one run. If there is a memory, they are kept for the next process. Unfinished uploads that are not recorded here are
/// never continued or ended, because they may belong to another bot or tool.
final class S3Records: Sendable {
    private let memory: (any UploadStateStore)?
    private let session: String
    private let records = Mutex<[String: S3Record]>([:])

    init(_ options: UploadOptions) {
        memory = options.session == nil ? nil : options.memory
        session = options.session ?? ""
    }

    subscript(_ target: UploadTarget) -> S3Record? {
        get async {
            let place = place(target)
            if let known = records.withLock({ $0[place] }) { return known }
            guard let record = await memory?.load(place).flatMap(S3Record.init) else { return nil }
            records.withLock { $0[place] = record }
            return record
        }
    }

    /// Records an upload.
    /// - Parameter isKept: Whether the next process must know it, too.
    func set(_ record: S3Record, of target: UploadTarget, isKept: Bool) async {
        let place = place(target)
        records.withLock { $0[place] = record }
        if isKept { await memory?.save(record.text, of: place) }
    }

    func forget(_ target: UploadTarget) async {
        let place = place(target)
        records.withLock { $0[place] = nil }
        await memory?.save(nil, of: place)
    }

    private func place(_ target: UploadTarget) -> String { "\(session) \(target.shown)" }
}

/// A store for data that a later process needs to continue an upload and that the server does not provide: which of the unfinished uploads to a
/// bucket is its own.
package protocol UploadStateStore: Sendable {
    /// Returns the stored text of a place; `nil` if there is none, or it cannot be read.
    func load(_ place: String) async -> String?
    /// Stores a text. Does not throw, because the next process only has to send the data again if it is missing.
    /// - Parameter text: Some lines, at most 100 KiB; `nil` removes the stored text.
    func save(_ text: String?, of place: String) async
}
