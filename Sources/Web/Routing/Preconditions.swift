package import Model

/// The conditional headers of a request for a file, evaluated in the order of RFC 9110, section 13.2.2.
package struct Preconditions: Sendable {
    package var ifMatch: String?
    package var ifNoneMatch: String?
    package var ifModifiedSince: String?
    package var ifUnmodifiedSince: String?
    package var ifRange: String?

    package init(
        ifMatch: String? = nil, ifNoneMatch: String? = nil, ifModifiedSince: String? = nil,
        ifUnmodifiedSince: String? = nil, ifRange: String? = nil
    ) {
        self.ifMatch = ifMatch
        self.ifNoneMatch = ifNoneMatch
        self.ifModifiedSince = ifModifiedSince
        self.ifUnmodifiedSince = ifUnmodifiedSince
        self.ifRange = ifRange
    }

    /// The result of the evaluation according to RFC 9110, section 13.2.2.
    package enum Judgment: Sendable, Hashable {
        case send
        /// 304.
        case notModified
        /// 412.
        case failed
    }

    /// Evaluates the conditions.
    /// - Parameters:
    ///   - entityTag: The file's entity tag in quotation marks, always a strong one.
    ///   - modified: Compared in whole seconds, as HTTP dates are. If it is `nil`, conditions with dates are ignored (sections 13.1.3 and 13.1.4).
    package func judge(entityTag: String, modified: Timestamp?) -> Judgment {
        let seconds = modified.map { $0.millisecondsSinceEpoch / 1000 }
        if let ifMatch {
            if !Self.list(ifMatch, holds: entityTag, isWeak: false) { return .failed }
        } else if let seconds, let limit = ifUnmodifiedSince.flatMap(HTTPDate.parse), seconds > limit {
            return .failed
        }
        if let ifNoneMatch {
            if Self.list(ifNoneMatch, holds: entityTag, isWeak: true) { return .notModified }
        } else if let seconds, let limit = ifModifiedSince.flatMap(HTTPDate.parse), seconds <= limit {
            return .notModified
        }
        return .send
    }

    /// Returns whether a range may be served: without `If-Range`, or if it names exactly these bytes.
    package func allowsRange(entityTag: String, modified: Timestamp?) -> Bool {
        guard let ifRange else { return true }
        if ifRange.hasPrefix("\"") { return ifRange == entityTag }
        guard let modified else { return false }
        return HTTPDate.parse(ifRange).map { $0 == modified.millisecondsSinceEpoch / 1000 } ?? false
    }

    private static func list(_ header: String, holds entityTag: String, isWeak: Bool) -> Bool {
        header.split(separator: ",").contains { item in
            var item = item.drop { $0 == " " || $0 == "\t" }
            while item.last == " " || item.last == "\t" { item.removeLast() }
            if item == "*" { return true }
            if item.hasPrefix("W/") { return isWeak && item.dropFirst(2) == entityTag[...] }
            return item == entityTag[...]
        }
    }
}
