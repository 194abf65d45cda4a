/// The body of a request to remove old integrations.
package struct PruneRequest: Codable, Hashable, Sendable {
    /// Whether this is a dry run: the answer lists what would be removed. `nil` means no.
    package var dryRun: Bool?
    /// Only the integrations of this bot; `nil` for all bots.
    package var bot: String?

    /// Creates a value from all its properties.
    package init(dryRun: Bool?, bot: String?) {
        self.dryRun = dryRun
        self.bot = bot
    }
}

/// What retention removes and keeps.
package struct PruneReport: Codable, Hashable, Sendable {
    /// Whether it was removed. It was not if the request asked only for a report.
    package var done: Bool
    /// The time up to which ages are counted; `nil` if the clock is not set, so that no age is counted.
    package var countedTo: Time?
    /// The integrations, those that go first; at most 20,000.
    package var items: [Item]
    /// The number of integrations that are missing from `items`.
    package var omitted: Int
    /// The total of the integrations that go.
    package var removes: Total
    /// The total of the integrations that stay.
    package var keeps: Total
    /// The published versions of each product, which always stay.
    package var versions: [Product]

    /// An integration.
    package struct Item: Codable, Hashable, Sendable {
        /// The integration, such as `kit#41`.
        package var integration: String
        /// Whether it goes.
        package var goes: Bool
        /// Why it goes or stays.
        package var reason: String
        /// The size of its files in bytes.
        package var bytes: Int64
        /// The number of its files.
        package var files: Int64

        /// Creates a value from all its properties.
        package init(integration: String, goes: Bool, reason: String, bytes: Int64, files: Int64) {
            self.integration = integration
            self.goes = goes
            self.reason = reason
            self.bytes = bytes
            self.files = files
        }
    }

    /// A sum over integrations.
    package struct Total: Codable, Hashable, Sendable {
        /// The number of integrations.
        package var integrations: Int
        /// The size of their files in bytes.
        package var bytes: Int64
        /// The number of their files.
        package var files: Int64

        /// Creates a value from all its properties.
        package init(integrations: Int, bytes: Int64, files: Int64) {
            self.integrations = integrations
            self.bytes = bytes
            self.files = files
        }
    }

    /// The published versions of a product.
    package struct Product: Codable, Hashable, Sendable {
        /// The product.
        package var product: String
        /// The number of its versions.
        package var versions: Int
        /// The size of their files in bytes.
        package var bytes: Int64

        /// Creates a value from all its properties.
        package init(product: String, versions: Int, bytes: Int64) {
            self.product = product
            self.versions = versions
            self.bytes = bytes
        }
    }

    /// Creates a value from all its properties.
    package init(
        done: Bool, countedTo: Time?, items: [Item], omitted: Int, removes: Total, keeps: Total, versions: [Product]
    ) {
        self.done = done
        self.countedTo = countedTo
        self.items = items
        self.omitted = omitted
        self.removes = removes
        self.keeps = keeps
        self.versions = versions
    }
}
