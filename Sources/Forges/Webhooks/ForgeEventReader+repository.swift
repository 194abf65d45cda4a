/// Reads which repository a body names.
extension ForgeEventReader {
    var repository: NamedRepository {
        let repository = body["repository"]
        switch forge {
        case .github, .gitea, .forgejo, .gogs, .push:
            return NamedRepository(
                urls: ["clone_url", "ssh_url", "git_url", "html_url", "url"].map { repository[$0].text },
                path: repository["full_name"].text)
        case .gitlab:
            let project = body["project"]
            let names = ["git_http_url", "git_ssh_url", "ssh_url", "http_url", "url", "web_url", "homepage"]
            return NamedRepository(
                urls: names.flatMap { [project[$0].text, repository[$0].text] },
                path: project["path_with_namespace"].text ?? body["path_with_namespace"].text)
        case .bitbucket:
            return NamedRepository(
                urls: [repository["links"]["html"]["href"].text], path: repository["full_name"].text)
        case .bitbucketServer:
            let named = repository.isObject ? repository : body["pullRequest"]["toRef"]["repository"]
            let path = [named["project"]["key"].text, named["slug"].text].compactMap(\.self)
            let clones = named["links"]["clone"].elements ?? []
            return NamedRepository(
                urls: clones.prefix(8).map { $0["href"].text },
                path: path.count == 2 ? path.joined(separator: "/") : nil)
        }
    }
}
