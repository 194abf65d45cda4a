import Basics
import Encodings
import HTTPTypes
import Hummingbird
import Model
import Storage

/// Feeds of what is new: the versions of a product, the completed integrations of a bot.
struct Feeds: Sendable {
    let site: Site

    /// The number of entries of a feed. A reader that fetches it once a day misses none of fifty a day.
    static let maximumEntries = 50

    var routes: [Route] {
        [
            Route(.get, "/products/{product}/feed.atom", .product, "A product's versions as an Atom feed.") {
                try answer($0, try await versions($0), isAtom: true)
            },
            Route(.get, "/products/{product}/feed.json", .product, "A product's versions as a JSON Feed.") {
                try answer($0, try await versions($0), isAtom: false)
            },
            Route(
                .get, "/bots/{bot}/feed.atom", .read,
                "A bot's completed integrations as an Atom feed; ?branch= ?failed."
            ) { try answer($0, try await integrations($0), isAtom: true) },
            Route(
                .get, "/bots/{bot}/feed.json", .read, "A bot's completed integrations as a JSON Feed; ?branch= ?failed."
            ) { try answer($0, try await integrations($0), isAtom: false) },
        ]
    }

    /// Answers 304 if the client already has this feed. A feed changes only when an entry does.
    private func answer(_ call: AuthorizedRequest, _ feed: FeedDocument, isAtom: Bool) throws -> Response {
        let bytes = Array((isAtom ? feed.atom : feed.json).utf8)
        let tag = "\"\(Digest.sha256(of: bytes))\""
        let asked = Preconditions(ifNoneMatch: call.request.headers[.ifNoneMatch])
        var response: Response =
            switch asked.judge(entityTag: tag, modified: feed.updated) {
            case .notModified: Response(status: .notModified)
            case .send, .failed:
                .body(bytes, type: isAtom ? "application/atom+xml; charset=utf-8" : "application/feed+json")
            }
        response.headers[.eTag] = tag
        return response
    }

    // MARK: Versions

    /// - Throws: 404 for a product without published versions.
    private func versions(_ call: AuthorizedRequest) async throws -> FeedDocument {
        let product = try call.name("product")
        let versions = try await site.store.publishedLately(product, limit: Self.maximumEntries)
            .sorted { ($0.publishedAt ?? .epoch, $0.version) > ($1.publishedAt ?? .epoch, $1.version) }
        guard !versions.isEmpty else { throw Problem.notFound }
        let page = "\(site.configuration.url)/products/\(product)"
        return FeedDocument(
            title: product.description, page: page, url: page + "/feed", entries: versions.map { entry($0, page) })
    }

    /// Yanking a version changes its title, and so when it was updated (RFC 4287, section 4.2.15).
    private func entry(_ record: VersionRecord, _ page: String) -> FeedDocument.Entry {
        let published = record.publishedAt ?? .epoch
        return FeedDocument.Entry(
            title: "\(record.product) \(record.version)" + (record.isYanked ? " (yanked)" : ""),
            page: page + "/" + PercentEncoding.encode(record.version.description),
            summary: "\(record.files.count.counting("file")), made of \(record.commit.abbreviated) on "
                + "\(record.ref.shortName) by \(record.integration).", published: published,
            updated: max(published, record.yankedAt ?? .epoch),
            attachments: record.files.map { file in
                [
                    "url": .string(
                        site.configuration.url + FileServer.root(record) + PercentEncoding.encode(path: file.path)),
                    "mime_type": .string(FileMediaType(fileName: file.path).type), "title": .string(file.path),
                    "size_in_bytes": .integer(file.size.bytes),
                ]
            })
    }

    // MARK: Integrations

    /// Returns the newest completed integrations of a bot, or of one of its branches. Skipped ones are left out, since they judge nothing.
    /// - Throws: 404 for a bot that does not exist.
    private func integrations(_ call: AuthorizedRequest) async throws -> FeedDocument {
        let bot = try await site.bot(of: call).name
        var filter = IntegrationFilter(bot: bot, state: "completed")
        filter.hasSkipped = false
        filter.ref = call.ref("branch")
        let isFailedOnly = try call.flag("failed")
        let page = "\(site.configuration.url)/bots/\(bot)"
        let found = try await site.store.integrations(
            filter, limit: isFailedOnly ? 4 * Self.maximumEntries : Self.maximumEntries, before: nil
        ).items.filter { !isFailedOnly || !($0.state.verdict?.isPublishable ?? false) }
        return FeedDocument(
            title: bot.description, page: page, url: page + "/feed",
            entries: found.prefix(Self.maximumEntries).map { entry($0, page) })
    }

    private func entry(_ record: IntegrationOutline, _ page: String) -> FeedDocument.Entry {
        let result = record.state.result?.description ?? record.state.word
        let subject = record.subject.map { $0.isEmpty ? "" : ": \($0)" } ?? ""
        let took = record.startedAt.flatMap { start in record.endedAt.map { PageText.duration($0 - start) } }
        let parts: [String?] = [
            "\(record.ref.shortName) at \(record.headCommit.abbreviated)", record.author.map { "by \($0)" },
            record.summary.map { _ in Pages.testCount(record.summary) }, took.map { "in \($0)" }, record.reason,
        ]
        let ended = record.endedAt ?? record.queuedAt
        return FeedDocument.Entry(
            title: "\(record.id) \(result)\(subject)", page: "\(page)/\(record.id.number)",
            summary: parts.compactMap(\.self).joined(separator: ", "), published: ended, updated: ended)
    }
}

extension Timestamp {
    /// 1970, for a version without a time. Published versions always have one.
    fileprivate static let epoch = Timestamp(millisecondsSinceEpoch: 0)
}
