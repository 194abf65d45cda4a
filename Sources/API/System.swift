/// An error in the form of RFC 9457, with the media type `application/problem+json`.
package struct Problem: Codable, Hashable, Sendable {
    /// Always `about:blank`: the status says which kind of error it is.
    package var type: String
    /// The status in words.
    package var title: String
    /// The HTTP status.
    package var status: Int
    /// What happened and what to do, for a user.
    package var detail: String

    /// Creates a value from all its properties.
    package init(type: String, title: String, status: Int, detail: String) {
        self.type = type
        self.title = title
        self.status = status
        self.detail = detail
    }
}

/// The answer of `/health`.
package struct Health: Codable, Hashable, Sendable {
    /// `ok`, or `disk full` if no job can run.
    package var status: String
    /// The service's version.
    package var version: String
    /// The service's address for browsers, such as `https://ci.example/martlet`, without a slash at its end.
    package var url: String

    /// Creates a value from all its properties.
    package init(status: String, version: String, url: String) {
        self.status = status
        self.version = version
        self.url = url
    }
}

/// The answer of `/ready`.
package struct Readiness: Codable, Hashable, Sendable {
    /// Whether the service can do its work.
    package var ready: Bool
    /// The parts that were examined.
    package var checks: [Check]

    /// A part of the service.
    package struct Check: Codable, Hashable, Sendable {
        /// `disk`, `database`, `launcher`, `sandbox`, `scans`, or `start` until each was examined.
        package var name: String
        /// Whether it works.
        package var ready: Bool
        /// What is wrong, without details; `nil` if it works. `GET /api/v1/conditions` has the details.
        package var reason: String?

        /// Creates a value from all its properties.
        package init(name: String, ready: Bool, reason: String?) {
            (self.name, self.ready, self.reason) = (name, ready, reason)
        }
    }

    /// Creates a value from all its properties.
    package init(ready: Bool, checks: [Check]) {
        (self.ready, self.checks) = (ready, checks)
    }
}

/// A trouble of the service that an operator can end.
package struct Condition: Codable, Hashable, Sendable {
    /// `disk`, `database`, `launcher`, `sandbox`, `scans`, `repository`, `delivery`, `credentials`, `file` or `queue`.
    package var kind: String
    /// The repository, destination, secret or file; `nil` if it is the service as a whole.
    package var subject: String?
    /// What happens, in a sentence.
    package var reason: String
    /// What to do, in a sentence.
    package var remedy: String
    /// Whether the service cannot do its work meanwhile.
    package var stopsWork: Bool

    /// Creates a value from all its properties.
    package init(kind: String, subject: String?, reason: String, remedy: String, stopsWork: Bool) {
        self.kind = kind
        self.subject = subject
        self.reason = reason
        self.remedy = remedy
        self.stopsWork = stopsWork
    }
}

/// The data of the event `integration` of `/api/v1/events`.
package struct IntegrationChange: Codable, Hashable, Sendable {
    /// The bot.
    package var bot: String
    /// The number of the integration that has changed.
    package var number: Int

    /// Creates a value from all its properties.
    package init(bot: String, number: Int) {
        self.bot = bot
        self.number = number
    }
}

/// The data of the event `version` of `/api/v1/events`.
package struct VersionChange: Codable, Hashable, Sendable {
    /// The product that has another version, or a version that was yanked.
    package var product: String

    /// Creates a value from all its properties.
    package init(product: String) {
        self.product = product
    }
}

/// The data of the event `gap` of `/api/v1/events`: events are missing before it, so the client reads again what it shows.
package struct EventGap: Codable, Hashable, Sendable {
    /// Why they are missing: `restart` of the service, or `age` if too many came since.
    package var reason: String

    /// Creates a value from all its properties.
    package init(reason: String) {
        self.reason = reason
    }
}

/// The data of an event of `/api/v1/events` that has no details.
package struct Change: Codable, Hashable, Sendable {
    /// Creates a value from all its properties.
    package init() {}
}

/// The data of the event `log` of a followed log. It has `text` or `base64`.
package struct LogPiece: Hashable, Sendable {
    /// The offset of the piece in the log, in bytes.
    package var offset: Int64
    /// The size of the piece in bytes.
    package var size: Int64
    /// The bytes as text; `nil` if they are not UTF-8.
    package var text: String?
    /// The bytes in Base64; `nil` if they are UTF-8.
    package var base64: String?

    /// Creates a value from all its properties.
    package init(offset: Int64, size: Int64, text: String?, base64: String?) {
        self.offset = offset
        self.size = size
        self.text = text
        self.base64 = base64
    }
}

extension LogPiece: Codable {
    private enum CodingKeys: CodingKey { case offset, size, text, base64 }

    /// Writes only one of `text` and `base64`.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(offset, forKey: .offset)
        try container.encode(size, forKey: .size)
        if let text {
            try container.encode(text, forKey: .text)
        } else {
            try container.encode(base64, forKey: .base64)
        }
    }
}

/// The data of the event `end` of a followed log.
package struct LogEnd: Codable, Hashable, Sendable {
    /// The size of the log in bytes.
    package var size: Int64

    /// Creates a value from all its properties.
    package init(size: Int64) {
        self.size = size
    }
}
