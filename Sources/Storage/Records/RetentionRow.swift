package import Model

/// An integration as retention judges it.
package struct RetentionRow: Hashable, Sendable {
    package var id: IntegrationID
    package var run: Int
    /// Whether it waits or runs.
    package var isOpen: Bool
    /// Its end; of one that has not ended, when it was queued.
    package var at: Timestamp
    /// Why it is kept whatever the limits are; nothing: they decide.
    package var holder: String?
    /// Of its files; nothing: not measured since its last run.
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

/// What files take.
package struct DiskUse: Hashable, Sendable {
    package var bytes: Int64
    /// Directories are counted too: each takes an inode.
    package var files: Int64

    package init(bytes: Int64 = 0, files: Int64 = 0) {
        self.bytes = bytes
        self.files = files
    }

    package static func + (left: DiskUse, right: DiskUse) -> DiskUse {
        DiskUse(bytes: left.bytes + right.bytes, files: left.files + right.files)
    }
}

/// What is said of an integration that retention removed.
package struct Removal: Hashable, Sendable {
    package var at: Timestamp
    /// Such as `older than 90d`.
    package var reason: String
}

/// One that is shown nowhere any more, and whose rows and files are still to go.
package struct RemovedIntegration: Hashable, Sendable {
    package var id: IntegrationID
    package var rowID: Int64
    /// The repository whose mirror holds its commit.
    package var repository: String
}
