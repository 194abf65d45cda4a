import Basics
import Mustache
import Synchronization

/// The pages' templates, embedded in the program. Each is compiled when a page first needs it.
struct Templates: Sendable {
    private let compiled: Compiled
    /// The query in links to the style sheet and the script. It changes with their content, so browsers fetch a new version.
    let assetTag: String

    static let styleSheet = PackageResources.style_css
    static let script = PackageResources.live_js
    /// The script of the trees of tests.
    static let testScript = PackageResources.tests_js
    /// The script of the worker that holds the one event stream of a browser.
    static let worker = PackageResources.stream_js

    /// The bytes of each template by its name.
    static let sources: [String: [UInt8]] = [
        "top": PackageResources.top_mustache,
        "bottom": PackageResources.bottom_mustache,
        "result": PackageResources.result_mustache,
        "integrations": PackageResources.integrations_mustache,
        "bots": PackageResources.bots_mustache,
        "bot": PackageResources.bot_mustache,
        "queue": PackageResources.queue_mustache,
        "screen": PackageResources.screen_mustache,
        "integration": PackageResources.integration_mustache,
        "log": PackageResources.log_mustache,
        "running": PackageResources.running_mustache,
        "products": PackageResources.products_mustache,
        "product": PackageResources.product_mustache,
        "deliveries": PackageResources.deliveries_mustache,
        "audit": PackageResources.audit_mustache,
        "files": PackageResources.files_mustache,
        "problem": PackageResources.problem_mustache,
        "tree": PackageResources.tree_mustache,
        "suites": PackageResources.suites_mustache,
        "failure": PackageResources.failure_mustache,
        "tests": PackageResources.tests_mustache,
        "test": PackageResources.test_mustache,
        "silences": PackageResources.silences_mustache,
        "outbox": PackageResources.outbox_mustache,
        "version": PackageResources.version_mustache,
        "article": PackageResources.article_mustache,
        "issues": PackageResources.issues_mustache,
        "issue": PackageResources.issue_mustache,
        "mute": PackageResources.mute_mustache,
        "signin": PackageResources.signin_mustache,
        "sessions": PackageResources.sessions_mustache,
        "docs": PackageResources.docs_mustache,
    ]

    private static let digest = String(
        Digest.sha256(
            of: styleSheet + script + worker + testScript + PackageResources.filter_js + PackageResources.screen_js
                + TerminalPalette.styleSheet
        ).prefix(12))

    /// Creates the templates.
    /// - Parameter compiled: The cache of compiled templates; by default that of the process.
    init(_ compiled: Compiled = .ofProcess) {
        self.compiled = compiled
        assetTag = Self.digest
    }

    /// Renders a page. The first call for a template compiles it and those that it includes, which takes milliseconds.
    /// - Throws: `Missing` for an unknown name, and Mustache's error for a template that does not parse; a test renders every template.
    func render(_ name: String, _ view: ViewObject) throws -> String {
        guard let text = try compiled.library(with: name).render(view, withTemplate: name) else {
            throw Missing(name: name)
        }
        return text
    }

    struct Missing: Error { let name: String }

    /// The templates that are compiled so far. A template is always cached together with all templates that it includes.
    final class Compiled: Sendable {
        static let ofProcess = Compiled()

        private let library = Mutex(MustacheLibrary())

        /// Returns whether a template is compiled.
        func has(_ name: String) -> Bool { library.withLock { $0.getTemplate(named: name) != nil } }

        /// Compiles a template and those that it includes, unless they are compiled already.
        fileprivate func library(with name: String) throws -> MustacheLibrary {
            try library.withLock { library in
                // If a template does not parse, the library stays as it was. Otherwise a page would be rendered without its parts.
                var next = library
                var names = [name]
                while let name = names.popLast() {
                    if next.getTemplate(named: name) != nil { continue }
                    guard let source = Templates.sources[name] else { throw Missing(name: name) }
                    try next.register(String(decoding: source, as: UTF8.self), named: name)
                    names += Self.included(in: source)
                }
                library = next
                return next
            }
        }

        /// Returns the names in `{{> name}}`.
        private static func included(in source: [UInt8]) -> [String] {
            source.split(separator: UInt8(ascii: "{")).compactMap { tag in
                guard tag.first == UInt8(ascii: ">") else { return nil }
                let name = tag.dropFirst().prefix { $0 != UInt8(ascii: "}") }
                return String(decoding: name.filter { $0 != UInt8(ascii: " ") }, as: UTF8.self)
            }
        }
    }
}
