import Mustache

/// The pages' templates, compiled once, from what is embedded in the program.
struct Templates: Sendable {
    private let library: MustacheLibrary
    /// What a link to the style sheet and the script carries, so that a new version of them is fetched.
    let assetTag: String

    static let styleSheet = PackageResources.style_css
    static let script = PackageResources.live_js

    private static let sources: [(name: String, bytes: [UInt8])] = [
        ("top", PackageResources.top_mustache), ("bottom", PackageResources.bottom_mustache),
        ("result", PackageResources.result_mustache), ("integrations", PackageResources.integrations_mustache),
        ("bots", PackageResources.bots_mustache), ("bot", PackageResources.bot_mustache),
        ("integration", PackageResources.integration_mustache), ("log", PackageResources.log_mustache),
        ("products", PackageResources.products_mustache), ("product", PackageResources.product_mustache),
        ("deliveries", PackageResources.deliveries_mustache), ("files", PackageResources.files_mustache),
        ("problem", PackageResources.problem_mustache), ("grid", PackageResources.grid_mustache),
        ("tests", PackageResources.tests_mustache), ("test", PackageResources.test_mustache),
        ("silences", PackageResources.silences_mustache), ("outbox", PackageResources.outbox_mustache),
        ("version", PackageResources.version_mustache), ("article", PackageResources.article_mustache),
        ("issues", PackageResources.issues_mustache), ("issue", PackageResources.issue_mustache),
    ]

    /// Parsed once for the process.
    private static let parsed = Result {
        var library = MustacheLibrary()
        for (name, bytes) in sources {
            try library.register(String(decoding: bytes, as: UTF8.self), named: name)
        }
        return (library, assetTag: String(BearerToken.digest(of: styleSheet + script).prefix(12)))
    }

    /// - Throws: If a template does not parse; the tests render every one.
    init() throws { (library, assetTag) = try Self.parsed.get() }

    /// - Throws: Only for a name that is none of the above.
    func render(_ name: String, _ view: ViewObject) throws -> String {
        guard let text = library.render(view, withTemplate: name) else { throw Missing(name: name) }
        return text
    }

    struct Missing: Error { let name: String }
}
