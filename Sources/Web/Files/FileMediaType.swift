import Encodings

/// The content type of a published or archived file, and how a browser treats it.
struct FileMediaType: Sendable, Hashable {
    let type: String
    /// Whether a browser saves the file instead of showing it. Only plain text, and images that cannot run scripts, are shown.
    let isAttachment: Bool

    init(fileName: String) {
        let lower = fileName.lowercased()
        let known = Self.known.first { lower.hasSuffix($0.suffix) }
        type = known?.type ?? (lower.hasPrefix("sha256sums") ? Self.text : "application/octet-stream")
        isAttachment = !Self.inline.contains(type)
    }

    private static let text = "text/plain; charset=utf-8"
    private static let inline: Set<String> = [text, "application/json", "image/png", "image/jpeg", "image/gif"]
    private static let known: [(suffix: String, type: String)] = [
        (".tar.gz", "application/gzip"), (".tgz", "application/gzip"), (".tar.zst", "application/zstd"),
        (".tar", "application/x-tar"), (".zip", "application/zip"), (".json", "application/json"), (".txt", text),
        (".md", text), (".swift", "text/x-swift"), (".log", text), (".sha256", text), (".png", "image/png"),
        (".jpg", "image/jpeg"),
        (".jpeg", "image/jpeg"), (".gif", "image/gif"), (".pdf", "application/pdf"),
        (".deb", "application/vnd.debian.binary-package"), (".rpm", "application/x-rpm"),
        (".sig", "application/octet-stream"),
    ]

    /// Returns `attachment; filename="…"; filename*=UTF-8''…` (RFC 6266). The second form is added only for names that ASCII cannot represent.
    static func disposition(_ fileName: String) -> String {
        let plain = fileName.unicodeScalars.map { scalar in
            scalar.isASCII && scalar.value >= 32 && scalar.value != 127 && scalar != "\"" && scalar != "\\"
                && scalar != "%" ? Character(scalar) : "_"
        }
        let header = "attachment; filename=\"\(String(plain))\""
        return String(plain) == fileName ? header : header + "; filename*=UTF-8''\(PercentEncoding.encode(fileName))"
    }
}
