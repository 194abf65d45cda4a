import Hummingbird

/// The documentation at `/docs`.
extension Pages {
    /// The folders of `docs` as the contents show them, in this order.
    private static let folders = [
        ("", "Documentation"), ("guide", "Guide"), ("operating", "Operating"), ("reference", "Reference"),
        ("internals", "Internals"),
    ]

    /// Answers with the contents, or with what `?q=` finds.
    func docs(_ call: Call) async throws -> Response {
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
    func doc(_ call: Call) async throws -> Response {
        let manual = ManualPages.ofProgram
        guard let found = manual[call.text("page")] else { throw Problem.notFound }
        return try await page(
            "docs", title: found.title, section: "docs",
            ["content": .html(manual.html(found)), "isPage": true, "contents": contents(manual, current: found.path)])
    }

    private func contents(_ manual: ManualPages, current: String? = nil) -> ViewObject.Value {
        .list(
            Self.folders.compactMap { folder, name in
                let pages = manual.pages.filter { $0.folder == folder }
                guard !pages.isEmpty else { return nil }
                return [
                    "folder": .text(name),
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
}
