/// A file that an integration archived.
package struct Artifact: Codable, Hashable, Sendable {
    /// The configuration in which it was built; `nil` for files of no configuration, such as the source.
    package var configuration: String?
    /// The relative path.
    package var path: String
    /// The size in bytes.
    package var size: Int64
    /// The SHA-256 digest: 64 lower-case hexadecimal digits.
    package var sha256: String
    /// The file's URL.
    package var url: String

    /// Creates a value from all its properties.
    package init(configuration: String?, path: String, size: Int64, sha256: String, url: String) {
        self.configuration = configuration
        self.path = path
        self.size = size
        self.sha256 = sha256
        self.url = url
    }
}

/// The archived files of an integration.
package struct ArtifactList: Codable, Hashable, Sendable {
    /// The files.
    package var items: [Artifact]
    /// Always `nil`: the list has one page.
    package var next: String?
    /// Why nothing is archived; `nil` if files are, and before the recipe is read.
    package var notArchived: String?

    /// Creates a value from all its properties.
    package init(items: [Artifact], next: String?, notArchived: String?) {
        self.items = items
        self.next = next
        self.notArchived = notArchived
    }
}

/// A published version of a product.
package struct Version: Codable, Hashable, Sendable {
    /// The version, such as `1.4.2`.
    package var version: String
    /// The id, such as `kit 1.4.2`.
    package var id: String
    /// The URL of its page.
    package var url: String
    /// The product.
    package var product: String
    /// When it was published; `nil` if that is unknown.
    package var published: Time?
    /// The commit that it was made of.
    package var commit: String
    /// The full name of the commit's ref.
    package var ref: String
    /// The integration that made it, such as `kit#41`.
    package var integration: String
    /// Its files.
    package var files: [File]
    /// The number of downloads of all its files.
    package var downloads: Int64
    /// Whether ranges and `latest` no longer offer it.
    package var yanked: Bool
    /// Its name in the package registry; `nil` if it is not there.
    package var registry: String?

    /// A published file.
    package struct File: Codable, Hashable, Sendable {
        /// The configuration in which it was built; `nil` for files of no configuration, such as the source.
        package var configuration: String?
        /// The file's name.
        package var path: String
        /// The size in bytes.
        package var size: Int64
        /// The SHA-256 digest: 64 lower-case hexadecimal digits.
        package var sha256: String
        /// The file's URL.
        package var url: String
        /// The number of downloads.
        package var downloads: Int64

        /// Creates a value from all its properties.
        package init(
            configuration: String?, path: String, size: Int64, sha256: String, url: String, downloads: Int64
        ) {
            self.configuration = configuration
            self.path = path
            self.size = size
            self.sha256 = sha256
            self.url = url
            self.downloads = downloads
        }
    }

    /// Creates a value from all its properties.
    package init(
        version: String, id: String, url: String, product: String, published: Time?, commit: String, ref: String,
        integration: String,
        files: [File], downloads: Int64, yanked: Bool, registry: String?
    ) {
        self.version = version
        self.id = id
        self.url = url
        self.product = product
        self.published = published
        self.commit = commit
        self.ref = ref
        self.integration = integration
        self.files = files
        self.downloads = downloads
        self.yanked = yanked
        self.registry = registry
    }
}

/// A product with its highest version.
package struct Product: Codable, Hashable, Sendable {
    /// The name.
    package var product: String
    /// The number of published versions.
    package var versions: Int
    /// The highest version that is neither a pre-release nor yanked; `nil` if there is none.
    package var latest: String?

    /// Creates a value from all its properties.
    package init(product: String, versions: Int, latest: String?) {
        self.product = product
        self.versions = versions
        self.latest = latest
    }
}

/// A product in the listing of `/files/`.
package struct ProductFolder: Codable, Hashable, Sendable {
    /// The product.
    package var product: String
    /// The URL of its versions.
    package var url: String

    /// Creates a value from all its properties.
    package init(product: String, url: String) {
        self.product = product
        self.url = url
    }
}

/// The published files that differ from what was published.
package struct DamagedFiles: Codable, Hashable, Sendable {
    /// When the last check of all files ended; `nil` if none has ended since the service started.
    package var looked: Time?
    /// The damaged files.
    package var items: [Item]

    /// A damaged file.
    package struct Item: Codable, Hashable, Sendable {
        /// The product.
        package var product: String
        /// The version.
        package var version: String
        /// The file's name.
        package var file: String
        /// When the damage was noticed.
        package var since: Time

        /// Creates a value from all its properties.
        package init(product: String, version: String, file: String, since: Time) {
            self.product = product
            self.version = version
            self.file = file
            self.since = since
        }
    }

    /// Creates a value from all its properties.
    package init(looked: Time?, items: [Item]) {
        self.looked = looked
        self.items = items
    }
}
