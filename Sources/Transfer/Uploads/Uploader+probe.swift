import Basics
import Glibc

extension Uploader {
    /// Asks whether a target can be reached and lets the user in. Nothing is written there.
    ///
    /// A web server or a bucket counts as reached with any answer. For sftp and ftp the user signs in. A local directory must be writable, or the
    /// nearest one that exists above it.
    /// - Parameter template: The target, as for `upload`.
    /// - Throws: `TransferError` if it cannot be reached.
    package func probe(_ template: String, options: UploadOptions) async throws(TransferError) {
        let place = Self.fixedPart(of: template)
        if S3Bucket.isAddress(template) {
            let bucket = try S3Bucket.address(template).bucket
            return try await ask(bucket.scheme + bucket.host + "/", options, signsIn: false)
        }
        if place.hasPrefix("/") {
            return try await queue.run { () throws(TransferError) in try Self.checkDirectory(place) }
        }
        try await ask(
            place, options, signsIn: place.lowercased().hasPrefix("sftp:") || place.lowercased().hasPrefix("ftp"))
    }

    private func ask(_ url: String, _ options: UploadOptions, signsIn: Bool) async throws(TransferError) {
        // A web server gets no password before there is something to send.
        var request = TransferRequest(.head, url, credentials: signsIn ? options.credentials : nil)
        if !signsIn { request.destination = .head }
        request.knownHosts = options.knownHosts
        request.isPlainHTTPAllowed = options.isPlainHTTPAllowed
        request.certificateAuthorities = options.certificateAuthorities
        request.limits = options.limits
        do throws(TransferError) {
            _ = try await transport.perform(request)
        } catch  where error.code == .notFound && signsIn {
            // The directory is made by the first upload.
        }
    }

    private static func checkDirectory(_ path: String) throws(TransferError) {
        var place = path
        while access(place, F_OK) != 0, errno == ENOENT, place.count > 1 {
            while place.hasSuffix("/"), place.count > 1 { place.removeLast() }
            place = String(place[...(place.lastIndex(of: "/") ?? place.startIndex)])
        }
        guard access(place, W_OK | X_OK) != 0 else { return }
        let reason = String(cString: strerror(errno))
        throw TransferError(
            code: .file, operation: "look at \(path)",
            message: "the service's user cannot write into \(place): \(reason); give it to the user")
    }

    /// Returns the place of a target for messages: up to the first placeholder, without user, password and query.
    package static func place(of template: String) -> String {
        let part = fixedPart(of: template)
        if S3Bucket.isAddress(template) { return String(template.prefix { $0 != "?" }) }
        return part.hasPrefix("/") ? part : (try? TransferURL(part, operation: "upload"))?.shown ?? "an upload target"
    }

    /// Returns the directories of a target before its first placeholder. It ends with a slash.
    private static func fixedPart(of template: String) -> String {
        var part = template.lowercased().hasPrefix("file:///") ? String(template.dropFirst("file://".count)) : template
        part = String(part.prefix { $0 != "{" && $0 != "?" && $0 != "#" })
        guard template.contains("{") else { return part.hasSuffix("/") ? part : part + "/" }
        return String(part[...(part.lastIndex(of: "/") ?? part.startIndex)])
    }
}
