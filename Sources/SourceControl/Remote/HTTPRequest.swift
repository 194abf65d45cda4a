import CLibGit2
import Model

/// A request of git to a server over http (gitprotocol-http(5), "Smart Clients").
struct HTTPRequest {
    /// The URL of the repository, including the account if the URL names one.
    let repository: RemoteURL
    /// The URL of the request, without an account, which libcurl would send unasked.
    let url: String
    let isPost: Bool
    /// The content type that the answer must have.
    let answerType: String
    /// The header fields, as whole lines.
    let headers: [String]

    init(_ url: String, _ service: git_smart_service_t) throws(HTTPFailure) {
        let path: String
        switch service {
        case GIT_SERVICE_UPLOADPACK_LS:
            (path, isPost) = ("/info/refs?service=git-upload-pack", false)
            answerType = "application/x-git-upload-pack-advertisement"
            headers = []
        case GIT_SERVICE_UPLOADPACK:
            (path, isPost) = ("/git-upload-pack", true)
            answerType = "application/x-git-upload-pack-result"
            // The empty `Expect` prevents libcurl's own, which some servers answer with 417.
            headers = ["Content-Type: application/x-git-upload-pack-request", "Accept: \(answerType)", "Expect:"]
        default: throw HTTPFailure(nil, "Martlet never sends objects to a server")
        }
        do throws(SourceControlError) {
            repository = try RemoteURL(url, isInsecureAllowed: true)
        } catch {
            throw HTTPFailure(nil, error.message)
        }
        guard [.http, .https].contains(repository.kind), let origin = repository.origin else {
            throw HTTPFailure(nil, "unsupported url protocol")
        }
        self.url =
            origin + (repository.path.hasSuffix("/") ? String(repository.path.dropLast()) : repository.path) + path
    }
}
