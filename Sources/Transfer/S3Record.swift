import Synchronization

/// A multipart upload of ours: what the server calls it, and the parts that it took.
struct S3Record: Sendable, Hashable {
    /// A part as it was sent, and as the server called it: its ETag is no MD5 where a key of the server's own encrypts.
    struct Part: Sendable, Hashable {
        let md5: String
        let tag: String
    }

    let upload: String
    var parts: [Int: Part] = [:]

    init(upload: String) { self.upload = upload }

    /// As `text` wrote it; nothing for what is damaged.
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

    /// The upload's name, then a line a part.
    var text: String {
        ([upload] + parts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.md5) \($0.value.tag)" })
            .joined(separator: "\n")
    }
}

/// The multipart uploads of one run, each kept for the next one where there is a memory. Nobody else's is ever gone on with or ended: an
/// object's unfinished uploads may be another bot's, or another tool's.
final class S3Records: Sendable {
    private let memory: (any UploadMemory)?
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
            guard let record = await memory?.recall(place).flatMap(S3Record.init) else { return nil }
            records.withLock { $0[place] = record }
            return record
        }
    }

    /// - Parameter isKept: Whether the next process has to know it too.
    func set(_ record: S3Record, of target: UploadTarget, isKept: Bool) async {
        let place = place(target)
        records.withLock { $0[place] = record }
        if isKept { await memory?.keep(record.text, of: place) }
    }

    func forget(_ target: UploadTarget) async {
        let place = place(target)
        records.withLock { $0[place] = nil }
        await memory?.keep(nil, of: place)
    }

    private func place(_ target: UploadTarget) -> String { "\(session) \(target.shown)" }
}
