/// One file and where it goes.
struct UploadTarget: Sendable {
    let file: UploadFile
    /// The whole URL, a local path, or an object's key.
    let url: String
    /// For messages: without user, password and query.
    let shown: String
    /// Which kind of place it is.
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
            // Decoded before the values come in, which are then encoded for a path.
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

    /// Whether what is there of a part can be gone on with: by sftp and ftp; a web server takes whole files alone (nginx 1.22 answers
    /// 501 to a PUT with Content-Range).
    var isResumable: Bool { hasScheme("sftp:") || isFTP }

    /// Whether a rename goes over what is there.
    var isFTP: Bool { hasScheme("ftp:") || hasScheme("ftps:") }

    private func hasScheme(_ scheme: String) -> Bool { url.lowercased().hasPrefix(scheme) }

    /// The URL of the part beside: the last segment made a hidden one.
    func partURL(_ identifier: String) -> String {
        let end = url.firstIndex { $0 == "?" || $0 == "#" } ?? url.endIndex
        let slash = url[..<end].lastIndex(of: "/") ?? url.startIndex
        return url[...slash] + Self.partName(url[url.index(after: slash)..<end], identifier) + url[end...]
    }

    /// A name that is long of itself is cut, so that the part's is none that no file system takes (NAME_MAX, 255 bytes); its digest tells
    /// several apart.
    /// - Parameter name: The last component, as the target has it: percent-encoded in a URL.
    static func partName(_ name: Substring, _ identifier: String) -> String {
        let whole = ".\(name).part-\(identifier)"
        guard whole.utf8.count > 255 else { return whole }
        // Cut neither within a letter nor within its %XX.
        let plain = name.utf8.prefix { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || "._-".utf8.contains(byte)
        }
        let digest = S3Signature.sha256(String(name)).prefix(20)
        return ".\(String(decoding: plain.prefix(64), as: UTF8.self))-\(digest).part-\(identifier)"
    }

    /// The URLs of the collections above, the uppermost first.
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
