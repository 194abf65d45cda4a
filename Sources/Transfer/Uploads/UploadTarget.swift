import Encodings

/// A file and its target.
struct UploadTarget: Sendable {
    let file: UploadFile
    /// The whole URL, a local path, or an object's key.
    let url: String
    /// The target for messages, without user, password and query.
    let shown: String
    /// The kind of target.
    let place: Place
    let course: UploadCourse

    enum Place: Sendable {
        case local(path: String)
        case remote
        case bucket(S3Bucket)
    }

    init(
        _ file: UploadFile, template: String, values: [String: String], number: Int, count: Int,
        tell: (@Sendable (UploadProgress) -> Void)?
    ) throws(TransferError) {
        let operation = "upload of \(file.name)"
        func invalid(_ message: String) -> TransferError {
            TransferError(code: .invalid, operation: operation, message: message)
        }
        guard !file.name.contains("/"), !file.name.contains("\\") else {
            throw invalid("a file's name must be one path component")
        }
        var values = values
        values["file"] = file.name
        var template = template
        var bucket: S3Bucket?
        if S3Bucket.isAddress(template) {
            let address = try S3Bucket.address(template)
            (bucket, template) = (address.bucket, address.key)
        } else if template.lowercased().hasPrefix("file:///") {
            // The path is decoded before the values are inserted, which are encoded for a path.
            guard let path = PercentEncoding.decode(String(template.dropFirst("file://".count))) else {
                throw invalid("the URL's path cannot be decoded")
            }
            template = path
        }
        if !template.contains("{file}") {
            guard bucket != nil || !template.contains("?") && !template.contains("#") else {
                throw invalid("a directory's URL has no query; put {file} where the name belongs")
            }
            template += (template.hasSuffix("/") ? "" : "/") + "{file}"
        }
        let expanded = try UploadTemplate.expand(template, values: values)
        self.file = file
        course = UploadCourse(file: file.name, size: file.size, number: number, count: count, tell: tell)
        if let bucket {
            url = String(expanded.drop { $0 == "/" })
            (shown, place) = ("s3://\(bucket.name)/\(url)", .bucket(bucket))
            guard url.utf8.count <= S3Bucket.maximumKeyLength else {
                throw invalid("the object's key is longer than \(S3Bucket.maximumKeyLength) bytes")
            }
        } else if expanded.hasPrefix("/") {
            (url, shown, place) = (expanded, expanded, .local(path: expanded))
        } else {
            let read = try TransferURL(expanded, operation: operation)
            (url, shown, place) = (expanded, read.shown, .remote)
        }
        if !isRemote, url.split(separator: "/").contains(where: { $0 == ".." || $0 == "." }) {
            throw invalid("the target holds a . or .. component")
        }
    }

    private var isRemote: Bool { if case .remote = place { true } else { false } }

    /// Whether a partial upload can be continued. sftp and ftp can; web servers accept only whole files (nginx 1.22 answers 501 to a PUT with
    /// Content-Range).
    var isResumable: Bool { hasScheme("sftp:") || isFTP }

    /// Whether the target is an ftp server, where a rename may replace an existing file.
    var isFTP: Bool { hasScheme("ftp:") || hasScheme("ftps:") }

    private func hasScheme(_ scheme: String) -> Bool { url.lowercased().hasPrefix(scheme) }

    /// Returns the URL of the temporary part: the last segment is replaced by a hidden name.
    func partURL(_ identifier: String) -> String {
        let end = url.firstIndex { $0 == "?" || $0 == "#" } ?? url.endIndex
        let slash = url[..<end].lastIndex(of: "/") ?? url.startIndex
        return url[...slash] + Self.partName(url[url.index(after: slash)..<end], identifier) + url[end...]
    }

    /// Returns the name of the temporary part. A name that would exceed NAME_MAX (255 bytes) is shortened, and its digest is added to keep it unique.
    /// - Parameter name: The last component as in the target: percent-encoded in a URL.
    static func partName(_ name: Substring, _ identifier: String) -> String {
        let whole = ".\(name).part-\(identifier)"
        guard whole.utf8.count > 255 else { return whole }
        // Cuts neither within a character nor within a %XX.
        let plain = name.utf8.prefix { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || "._-".utf8.contains(byte)
        }
        let digest = S3Signature.sha256(String(name)).prefix(20)
        return ".\(String(decoding: plain.prefix(64), as: UTF8.self))-\(digest).part-\(identifier)"
    }

    /// The URLs of the collections above the target, the topmost first.
    var collections: [String] {
        guard let scheme = url.firstRange(of: "://"), let root = url[scheme.upperBound...].firstIndex(of: "/") else {
            return []
        }
        let end = url.firstIndex { $0 == "?" || $0 == "#" } ?? url.endIndex
        var found: [String] = []
        var position = url.index(after: root)
        while let slash = url[position..<end].firstIndex(of: "/") {
            found.append(String(url[...slash]))
            position = url.index(after: slash)
        }
        return found
    }
}
