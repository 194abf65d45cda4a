/// A trouble of the service that an operator can end.
package struct ServiceCondition: Hashable, Sendable {
    /// The kind of trouble. The raw values are stored, and are labels of metrics.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// A disk has too little room, or soon will have.
        case disk
        /// The database cannot be written.
        case database
        /// The launcher does not answer, so no job can start.
        case launcher
        /// The sandbox that jobs had cannot be made any more.
        case sandbox
        /// No repository can be scanned.
        case scans
        /// A repository cannot be scanned.
        case repository
        /// Messages to a destination fail.
        case delivery
        /// A secret or a certificate is refused or missing.
        case credentials
        /// A published file is damaged.
        case file
        /// Integrations wait and none starts.
        case queue
    }

    package var kind: Kind
    /// The repository, destination, secret or file. Empty if the service as a whole is in trouble.
    package var subject: String
    /// A sentence about what happens.
    package var reason: String
    /// A sentence about what to do.
    package var remedy: String
    /// Whether the service cannot do its work meanwhile.
    package var stopsWork: Bool

    /// The most bytes of a subject, and of a reason and a remedy each. Longer texts are cut.
    package static let maximumSubject = 300
    package static let maximumText = 1000

    /// Creates a condition. Texts become one line each, and longer ones are cut.
    package init(
        _ kind: Kind, subject: String = "", reason: String, remedy: String, stopsWork: Bool = false
    ) {
        self.kind = kind
        self.subject = subject.cutLine(Self.maximumSubject)
        self.reason = reason.cutLine(Self.maximumText)
        self.remedy = remedy.cutLine(Self.maximumText)
        self.stopsWork = stopsWork
    }

    /// A condition's identity: two with the same kind and subject are one.
    package struct Key: Hashable, Sendable, Comparable {
        package var kind: Kind
        package var subject: String

        package init(kind: Kind, subject: String) { (self.kind, self.subject) = (kind, subject) }

        package static func < (left: Key, right: Key) -> Bool {
            (left.kind.order, left.subject) < (right.kind.order, right.subject)
        }
    }

    package var key: Key { Key(kind: kind, subject: subject) }
}

extension ServiceCondition.Kind {
    /// The parts of the service that `/ready` examines, in its order.
    package static let examined: [Self] = [.disk, .database, .launcher, .sandbox, .scans]

    fileprivate var order: Int { Self.allCases.firstIndex(of: self) ?? 0 }

    /// A sentence for readers who may not see the details.
    package var sentence: String {
        switch self {
        case .disk: "the disk has too little room"
        case .database: "the database cannot be written"
        case .launcher: "the launcher does not answer"
        case .sandbox: "the sandbox of jobs cannot be made"
        case .scans: "no repository can be scanned"
        case .repository: "a repository cannot be scanned"
        case .delivery: "messages to others fail"
        case .credentials: "a secret or a certificate is refused or missing"
        case .file: "a published file is damaged"
        case .queue: "integrations wait and none starts"
        }
    }
}
