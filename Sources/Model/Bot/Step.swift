/// The current step of a job.
package enum JobStep: String, Sendable, Codable, CaseIterable, Comparable {
    case checkout, analyzing, building, testing, archiving, processing

    package static func < (left: JobStep, right: JobStep) -> Bool { left.rank < right.rank }
    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// The current step of an integration.
package enum IntegrationStep: String, Sendable, Codable, CaseIterable {
    case pending, preparing
    case beforeTriggers = "before-triggers"
    case running
    case afterTriggers = "after-triggers"
    case uploading, completed
}
