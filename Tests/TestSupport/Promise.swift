package import Testing

/// A promise of the project that a test or a suite proves. `hooks/features` lists the promises in docs/reference/features.md, each with its tests.
///
/// For example: `@Test(.proves(.intake, "A push is stored before it is answered."))`
package struct Promise: TestTrait, SuiteTrait {
    /// The chapters of the list, in its order, with their titles.
    package enum Chapter: String, Sendable {
        case firstSteps = "From an empty machine to a version"
        case architecture = "Package and architecture"
        case model = "Terms and state machines"
        case settings = "Settings"
        case storage = "Storage"
        case sourceControl = "Source control"
        case jobs = "Jobs"
        case sandbox = "The sandbox in use"
        case steps = "Steps"
        case reports = "Reports and issues"
        case issueHistory = "Issues through time"
        case testHistory = "Tests through time"
        case versions = "Archives and versions"
        case releases = "Releases"
        case transfer = "Transfer"
        case triggers = "Triggers"
        case intake = "Intake"
        case notices = "Notifications"
        case web = "Web"
        case programs = "Programs and units"
        case operating = "Operating"
        case badInput = "Bad input"
        case acceptance = "Acceptance programs"
        case testsAndPages = "Tests and pages"
    }

    package let chapter: Chapter
    /// A sentence that a user understands without the ones around it, in Markdown.
    package let sentence: String
}

extension Trait where Self == Promise {
    /// The sentence is a literal, since the list is made from the sources. Several tests with one sentence prove it together.
    package static func proves(_ chapter: Promise.Chapter, _ sentence: String) -> Self {
        Promise(chapter: chapter, sentence: sentence)
    }
}
