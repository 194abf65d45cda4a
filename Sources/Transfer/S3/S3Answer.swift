/// A reader of the few elements that are used of S3's XML answers. Elements are found by their names, because no answer uses a name with two
/// meanings.
struct S3Answer {
    private let text: String

    init(_ answer: TransferResponse) { text = String(decoding: answer.body, as: UTF8.self) }

    init(text: String) { self.text = text }

    /// Whether it reports an error. S3 does so with status 200 if the request took a long time (AWS, "CompleteMultipartUpload").
    var isError: Bool { text.contains("<Error>") }

    /// Returns the decoded text of the first element with a name; `nil` if there is none.
    func first(_ name: String) -> String? { all(name, limit: 1).first.map(Self.decoded) }

    /// Returns the elements with a name.
    func each(_ name: String) -> [S3Answer] { all(name, limit: .max).map { S3Answer(text: String($0)) } }

    private func all(_ name: String, limit: Int) -> [Substring] {
        var found: [Substring] = []
        var rest = text[...]
        while found.count < limit, let start = rest.firstRange(of: "<\(name)>") {
            rest = rest[start.upperBound...]
            guard let end = rest.firstRange(of: "</\(name)>") else { break }
            found.append(rest[..<end.lowerBound])
            rest = rest[end.upperBound...]
        }
        return found
    }

    /// Decodes the five predefined entities of XML, and the numeric forms of quotes that some servers write in an ETag (`&#34;`).
    private static func decoded(_ text: Substring) -> String {
        var result = ""
        var rest = text
        while let and = rest.firstIndex(of: "&") {
            result += rest[..<and]
            rest = rest[rest.index(after: and)...]
            guard let end = rest.firstIndex(of: ";") else { break }
            switch rest[..<end] {
            case "amp": result += "&"
            case "lt": result += "<"
            case "gt": result += ">"
            case "apos", "#39": result += "'"
            case "quot", "#34": result += "\""
            default: result += "?"
            }
            rest = rest[rest.index(after: end)...]
        }
        return result + rest
    }
}
