/// The three moves of an upload, for one kind of target.
protocol UploadMethod: Sendable {
    /// Writes the file beside its target and reads it back.
    /// - Returns: The part's URL or path; nothing when the target holds the very same bytes.
    func stage(_ target: UploadTarget) async throws(TransferError) -> String?
    /// Gives the part its name, never over something.
    func commit(_ target: UploadTarget, part: String) async throws(TransferError)
    /// Removes a part; what fails is left, since an error is under way already.
    func discard(_ target: UploadTarget, part: String) async
}

/// One file and where it goes.
struct UploadTarget: Sendable {
    let file: UploadFile
    /// The whole URL, or a local path.
    let url: String
    /// For messages: without user, password and query.
    let shown: String
    /// The local path for `/…` and `file:///…`.
    let localPath: String?

    init(_ file: UploadFile, template: String, values: [String: String]) throws(TransferError) {
        func invalid(_ message: String) -> TransferError {
            TransferError(code: .invalid, operation: "upload of \(file.name)", message: message)
        }
        guard !file.name.contains("/"), !file.name.contains("\\") else {
            throw invalid("a file's name must be one path component")
        }
        var values = values
        values["file"] = file.name
        var template = template
        if !template.contains("{file}") {
            guard !template.contains("?"), !template.contains("#") else {
                throw invalid("a directory's URL has no query; put {file} where the name belongs")
            }
            template += (template.hasSuffix("/") ? "" : "/") + "{file}"
        }
        let expanded = try UploadTemplate.expand(template, values: values)
        self.file = file
        if expanded.hasPrefix("/") {
            (url, shown, localPath) = (expanded, expanded, expanded)
        } else if expanded.lowercased().hasPrefix("file:///") {
            guard let path = PercentEncoding.decode(String(expanded.dropFirst("file://".count))) else {
                throw invalid("the URL's path cannot be decoded")
            }
            (url, shown, localPath) = (expanded, path, path)
        } else {
            let read = try TransferURL(expanded, operation: "upload of \(file.name)")
            (url, shown, localPath) = (expanded, read.shown, nil)
        }
        if let localPath, localPath.split(separator: "/").contains(where: { $0 == ".." || $0 == "." }) {
            throw invalid("the target holds a . or .. component")
        }
    }

    /// The URL of the part beside: the last segment made a hidden one.
    func partURL(_ identifier: String) -> String {
        let end = url.firstIndex { $0 == "?" || $0 == "#" } ?? url.endIndex
        let slash = url[..<end].lastIndex(of: "/") ?? url.startIndex
        let name = url[url.index(after: slash)..<end]
        return url[...slash] + "." + name + ".part-" + identifier + url[end...]
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
