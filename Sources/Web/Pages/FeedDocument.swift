import Model

/// A feed: Atom (RFC 4287) or JSON Feed 1.1 (jsonfeed.org).
struct FeedDocument: Sendable {
    /// The name of the bot or product.
    let title: String
    /// The URL of its page, which is also the feed's id.
    let page: String
    /// The URL of the feed without `.atom` or `.json`.
    let url: String
    /// The newest entries, the newest first; not empty.
    let entries: [Entry]

    /// An integration or a version.
    struct Entry: Sendable {
        let title: String
        /// The URL of its page, which is also the entry's id.
        let page: String
        let summary: String
        let published: Timestamp
        /// When the entry last changed.
        let updated: Timestamp
        var attachments: [JSONValue] = []
    }

    /// When the feed last changed.
    var updated: Timestamp { entries.map(\.updated).max() ?? Timestamp(millisecondsSinceEpoch: 0) }

    /// The feed as Atom.
    var atom: String {
        var lines = [
            "<?xml version=\"1.0\" encoding=\"utf-8\"?>", "<feed xmlns=\"http://www.w3.org/2005/Atom\">",
            "  <title>\(Self.xml(title))</title>", "  <id>\(Self.xml(page))</id>", "  <updated>\(updated)</updated>",
            "  <link rel=\"self\" type=\"application/atom+xml\" href=\"\(Self.xml(url)).atom\"/>",
            "  <link rel=\"alternate\" type=\"text/html\" href=\"\(Self.xml(page))\"/>",
            "  <author><name>\(Self.xml(title))</name></author>", "  <generator>Martlet</generator>",
        ]
        for entry in entries {
            lines += [
                "  <entry>", "    <title>\(Self.xml(entry.title))</title>", "    <id>\(Self.xml(entry.page))</id>",
                "    <published>\(entry.published)</published>", "    <updated>\(entry.updated)</updated>",
                "    <link rel=\"alternate\" type=\"text/html\" href=\"\(Self.xml(entry.page))\"/>",
                "    <summary>\(Self.xml(entry.summary))</summary>", "  </entry>",
            ]
        }
        return lines.joined(separator: "\n") + "\n</feed>\n"
    }

    /// The feed as JSON Feed.
    var json: String {
        let feed: JSONValue = [
            "version": "https://jsonfeed.org/version/1.1", "title": .string(title),
            "home_page_url": .string(page), "feed_url": .string(url + ".json"),
            "items": .array(
                entries.map { entry in
                    [
                        "id": .string(entry.page), "url": .string(entry.page), "title": .string(entry.title),
                        "content_text": .string(entry.summary),
                        "date_published": .string(entry.published.description),
                        "date_modified": .string(entry.updated.description), "attachments": .array(entry.attachments),
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
