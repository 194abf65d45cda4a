import GRDB
package import Model

/// The number of downloads of a published file.
package struct DownloadCount: Hashable, Sendable {
    package let product: Name
    package let version: SemanticVersion
    package let path: String
    package let count: Int64

    package init(product: Name, version: SemanticVersion, path: String, count: Int64) {
        self.product = product
        self.version = version
        self.path = path
        self.count = count
    }
}

extension Store {
    /// Adds to the stored download counts, in one transaction.
    package func addDownloads(_ counts: [DownloadCount]) async throws(StoreError) {
        try await writer.write("count downloads of \(counts.count) files") { transaction in
            for count in counts {
                try transaction.db.change(
                    """
                    INSERT INTO downloads (product, version, path, count) VALUES (?, ?, ?, ?)
                    ON CONFLICT DO UPDATE SET count = count + excluded.count
                    """, [count.product.description, count.version.description, count.path, count.count])
            }
        }
    }

    /// Returns the download counts of a product's files that were ever downloaded.
    package func downloads(of product: Name) async throws(StoreError) -> [DownloadCount] {
        try await read("read the downloads of \(product)") { db in
            try db.rows(
                "SELECT * FROM downloads WHERE product = ?", [product.description]
            ).map { row in
                DownloadCount(
                    product: product, version: try row.value("version") { SemanticVersion($0) }, path: try row["path"],
                    count: try row["count"])
            }
        }
    }
}
