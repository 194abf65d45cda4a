import Basics
import Encodings
import HTTPTypes
import Hummingbird
import Model
import Storage

/// The recently published versions of a product as feeds: Atom (RFC 4287) and JSON Feed 1.1 (jsonfeed.org).
struct Feeds: Sendable {
    let site: Site

    /// The number of versions in a feed. A reader that fetches it once a day misses no version of a product with fifty a day.
    static let maximumEntries = 50

    var routes: [Route] {
        [
            Route(.get, "/products/{product}/feed.atom", .product, "A product's versions as an Atom feed.") {
                try await answer($0, type: "application/atom+xml; charset=utf-8", atom)
            },
            Route(.get, "/products/{product}/feed.json", .product, "A product's versions as a JSON Feed.") {
                try await answer($0, type: "application/feed+json", json)
            },
        ]
    }

    /// Answers 304 if the client already has this feed. A feed changes only when a version does.
    private func answer(
        _ call: AuthorizedRequest, type: String, _ write: (Name, [VersionRecord]) -> String
    ) async throws -> Response {
        let product = try call.name("product")
        let versions = try await site.store.publishedLately(product, limit: Self.maximumEntries)
            .sorted { ($0.publishedAt ?? .epoch, $0.version) > ($1.publishedAt ?? .epoch, $1.version) }
        guard let updated = versions.map(Self.updated).max() else { throw Problem.notFound }
        let bytes = Array(write(product, versions).utf8)
        let tag = "\"\(Digest.sha256(of: bytes))\""
        let asked = Preconditions(ifNoneMatch: call.request.headers[.ifNoneMatch])
        var response: Response =
            switch asked.judge(entityTag: tag, modified: updated) {
            case .notModified: Response(status: .notModified)
            case .send, .failed: .body(bytes, type: type)
            }
        response.headers[.eTag] = tag
        return response
    }

    // MARK: Entries

    private func page(_ product: Name) -> String { "\(site.configuration.url)/products/\(product)" }

    private func page(_ record: VersionRecord) -> String {
        page(record.product) + "/" + PercentEncoding.encode(record.version.description)
    }

    /// Returns when an entry last changed. Yanking a version changes its title (RFC 4287, section 4.2.15).
    private static func updated(_ record: VersionRecord) -> Timestamp {
        max(record.publishedAt ?? .epoch, record.yankedAt ?? .epoch)
    }

    private func title(_ record: VersionRecord) -> String {
        "\(record.product) \(record.version)" + (record.isYanked ? " (yanked)" : "")
    }

    private func summary(_ record: VersionRecord) -> String {
        "\(record.files.count.counting("file")), made of \(record.commit.abbreviated) on \(record.ref.shortName) by "
            + "\(record.integration)."
    }

    private func atom(_ product: Name, _ versions: [VersionRecord]) -> String {
        let updated = versions.map(Self.updated).max() ?? .epoch
        var lines = [
            "<?xml version=\"1.0\" encoding=\"utf-8\"?>", "<feed xmlns=\"http://www.w3.org/2005/Atom\">",
            "  <title>\(product)</title>", "  <id>\(Self.xml(page(product)))</id>", "  <updated>\(updated)</updated>",
            "  <link rel=\"self\" type=\"application/atom+xml\" href=\"\(Self.xml(page(product)))/feed.atom\"/>",
            "  <link rel=\"alternate\" type=\"text/html\" href=\"\(Self.xml(page(product)))\"/>",
            "  <author><name>\(product)</name></author>", "  <generator>Martlet</generator>",
        ]
        for record in versions {
            let time = record.publishedAt ?? .epoch
            lines += [
                "  <entry>", "    <title>\(Self.xml(title(record)))</title>", "    <id>\(Self.xml(page(record)))</id>",
                "    <published>\(time)</published>", "    <updated>\(Self.updated(record))</updated>",
                "    <link rel=\"alternate\" type=\"text/html\" href=\"\(Self.xml(page(record)))\"/>",
                "    <summary>\(Self.xml(summary(record)))</summary>", "  </entry>",
            ]
        }
        return lines.joined(separator: "\n") + "\n</feed>\n"
    }

    private func json(_ product: Name, _ versions: [VersionRecord]) -> String {
        let feed: JSONValue = [
            "version": "https://jsonfeed.org/version/1.1", "title": .string(product.description),
            "home_page_url": .string(page(product)), "feed_url": .string(page(product) + "/feed.json"),
            "items": .array(
                versions.map { record in
                    [
                        "id": .string(page(record)), "url": .string(page(record)), "title": .string(title(record)),
                        "content_text": .string(summary(record)),
                        "date_published": .string((record.publishedAt ?? .epoch).description),
                        "date_modified": .string(Self.updated(record).description),
                        "attachments": .array(
                            record.files.map { file in
                                [
                                    "url": .string(
                                        site.configuration.url + FileServer.root(record)
                                            + PercentEncoding.encode(path: file.path)),
                                    "mime_type": .string(FileMediaType(fileName: file.path).type),
                                    "title": .string(file.path), "size_in_bytes": .integer(file.size.bytes),
                                ]
                            }),
                    ]
                }),
        ]
        return feed.text + "\n"
    }

    /// Escapes text for XML 1.0 and replaces characters that a document must not contain (section 2.2).
    static func xml(_ text: String) -> String {
        let scalars = text.unicodeScalars.map { scalar -> Unicode.Scalar in
            switch scalar.value {
            case 0x09, 0x0A, 0x0D, 0x20...0xD7FF, 0xE000...0xFFFD, 0x10000...: scalar
            default: "\u{FFFD}"
            }
        }
        return HTMLText.escape(String(String.UnicodeScalarView(scalars)))
    }
}

extension Timestamp {
    /// 1970, for a version without a time. Published versions always have one.
    fileprivate static let epoch = Timestamp(millisecondsSinceEpoch: 0)
}
