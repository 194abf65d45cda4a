package import Model

/// An integration as retention judges it.
package struct RetentionRow: Hashable, Sendable {
    package var id: IntegrationID
    package var run: Int
    /// Whether the integration is queued or running.
    package var isOpen: Bool
    /// The time when the integration ended; if it has not ended, the time when it was queued.
    package var at: Timestamp
    /// The reason why it is kept regardless of the limits; `nil` if the limits decide.
    package var holder: String?
    /// The disk use of its files; `nil` if not measured since its last run.
    package var disk: DiskUse?

    package init(
        id: IntegrationID, run: Int, isOpen: Bool = false, at: Timestamp, holder: String? = nil, disk: DiskUse? = nil
    ) {
        self.id = id
        self.run = run
        self.isOpen = isOpen
        self.at = at
        self.holder = holder
        self.disk = disk
    }
}

/// The disk use of files.
package struct DiskUse: Hashable, Sendable {
    package var bytes: Int64
    /// The number of files, including directories: each of those takes an inode, too.
    package var files: Int64

    package init(bytes: Int64 = 0, files: Int64 = 0) {
        self.bytes = bytes
        self.files = files
    }
}

/// The time and the reason of an integration's removal by retention.
package struct Removal: Hashable, Sendable {
    package var at: Timestamp
    /// Such as `older than 90d`.
    package var reason: String
}

/// An integration that is no longer shown and whose rows and files are still to be deleted.
package struct RemovedIntegration: Hashable, Sendable {
    package var id: IntegrationID
    package var rowID: Int64
    /// The repository whose mirror holds its commit.
    package var repository: String
}
