import Hummingbird

/// The documentation at `/docs`.
extension Pages {
    /// The folders of `docs` that the contents show first, in this order. Other folders follow.
    private static let firstFolders = ["", "guide", "operating", "reference", "internals"]

    /// Answers with the contents, or with what `?q=` finds.
    func docs(_ call: AuthorizedRequest) async throws -> Response {
        let manual = ManualPages.ofProgram
        guard let query = call.query("q") else {
            return try await page("docs", title: "Documentation", section: "docs", ["contents": contents(manual)])
        }
        let hits = manual.hits(for: query)
        return try await page(
            "docs", title: "Documentation: search", section: "docs",
            [
                "query": .text(query), "isSearch": true, "hasHits": .flag(!hits.isEmpty),
                "isCut": .flag(hits.count == ManualPages.mostHits), "most": .text(ManualPages.mostHits),
                "hits": .list(
                    hits.map { hit in
                        [
                            "href": .text("/docs/\(hit.page)\(hit.anchor.isEmpty ? "" : "#" + hit.anchor)"),
                            "title": .text(hit.title), "heading": .text(hit.heading.isEmpty ? nil : hit.heading),
                            "excerpt": .text(hit.excerpt),
                        ]
                    }),
            ])
    }

    /// Answers with a page.
    func doc(_ call: AuthorizedRequest) async throws -> Response {
        let manual = ManualPages.ofProgram
        guard let found = manual[call.text("page")] else { throw Problem.notFound }
        return try await page(
            "docs", title: found.title, section: "docs",
            ["content": .html(manual.html(found)), "isPage": true, "contents": contents(manual, current: found.path)])
    }

    private func contents(_ manual: ManualPages, current: String? = nil) -> ViewObject.Value {
        let folders = Dictionary(grouping: manual.pages, by: \.folder)
        let others = folders.keys.filter { !Self.firstFolders.contains($0) }.sorted()
        return .list(
            (Self.firstFolders + others).compactMap { folder in
                guard let pages = folders[folder] else { return nil }
                return [
                    "folder": .text(Self.name(of: folder)),
                    "pages": .list(
                        pages.map {
                            [
                                "href": .text("/docs/\($0.path)"), "title": .text($0.title),
                                "isCurrent": .flag($0.path == current),
                            ]
                        }),
                ]
            })
    }

    /// Returns a folder's name for readers: `guide/languages` is "Guide: languages".
    private static func name(of folder: String) -> String {
        if folder.isEmpty { return "Documentation" }
        return folder.prefix(1).uppercased() + folder.dropFirst().replacing("/", with: ": ")
    }
}
