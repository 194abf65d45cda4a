/// A reader of a JSON object whose members must exist and have the right type. Texts with a NUL are refused, because
/// they would end early in C.
struct JobObject {
    let value: JSON
    let place: String

    init(_ value: JSON, _ place: String) {
        self.value = value
        self.place = place
    }

    func malformed(_ what: String) -> JobProtocolError { JobProtocolError(.malformed, "read \(place)", what) }

    func text(_ key: String) throws(JobProtocolError) -> String {
        guard let text = value[key]?.text, !text.utf8.contains(0) else { throw malformed("\(key) must be a text") }
        return text
    }

    func boolean(_ key: String) throws(JobProtocolError) -> Bool {
        guard let value = value[key]?.boolean else { throw malformed("\(key) must be true or false") }
        return value
    }

    /// Whether there is such a member other than `null`.
    func has(_ key: String) -> Bool { value[key] != nil && value[key] != .null }

    func size(_ key: String, from smallest: Int64 = 0) throws(JobProtocolError) -> Int64 {
        guard let size = value[key]?.integer, size >= smallest else {
            throw malformed("\(key) must be a number ≥ \(smallest)")
        }
        return size
    }

    /// Returns one of a few known words. Unknown words are refused.
    func word<Word: RawRepresentable & CaseIterable>(
        _ key: String
    ) throws(JobProtocolError) -> Word where Word.RawValue == String {
        let text = try text(key)
        guard let word = Word(rawValue: text) else {
            let known = Word.allCases.map(\.rawValue).joined(separator: ", ")
            throw JobProtocolError(.refused, "read \(place)", "\(key) is \(text); this program knows only \(known)")
        }
        return word
    }

    /// Returns an absolute path without empty, `.` and `..` components. `/` itself is refused.
    func path(_ key: String) throws(JobProtocolError) -> String {
        let text = try text(key)
        guard Self.isPath(text) else { throw malformed("\(key) must be an absolute path without . and ..") }
        return text
    }

    func paths(_ key: String) throws(JobProtocolError) -> [String] {
        let texts = try strings(key)
        guard texts.allSatisfy(Self.isPath) else {
            throw malformed("\(key) must hold absolute paths without . and ..")
        }
        return texts
    }

    /// Whether a text is such a path. PATH_MAX is 4096 bytes with the final NUL (limits.h).
    private static func isPath(_ text: String) -> Bool {
        guard text.hasPrefix("/"), text.utf8.count < 4096 else { return false }
        return text.dropFirst().split(separator: "/", omittingEmptySubsequences: false).allSatisfy {
            !$0.isEmpty && $0 != "." && $0 != ".."
        }
    }

    func array(_ key: String) throws(JobProtocolError) -> [JSON] {
        guard let elements = value[key]?.elements else { throw malformed("\(key) must be a list") }
        return elements
    }

    func object(_ key: String) throws(JobProtocolError) -> JobObject {
        guard let member = value[key], member.members != nil else { throw malformed("\(key) must be an object") }
        return JobObject(member, "\(place), \(key)")
    }

    func strings(_ key: String) throws(JobProtocolError) -> [String] {
        var texts: [String] = []
        for element in try array(key) {
            guard let text = element.text, !text.utf8.contains(0) else { throw malformed("\(key) must hold texts") }
            texts.append(text)
        }
        return texts
    }

    func dictionary(_ key: String) throws(JobProtocolError) -> [String: String] {
        var dictionary: [String: String] = [:]
        for (name, member) in try object(key).value.members ?? [:] {
            guard let text = member.text, !text.utf8.contains(0), !name.utf8.contains(0), !name.isEmpty,
                !name.contains("=")
            else { throw malformed("\(key) must hold texts under names without =") }
            dictionary[name] = text
        }
        return dictionary
    }
}
