/// The few elements of S3's XML answers that matter here, found by their names: no answer has one name in two meanings.
struct S3Answer {
    private let text: String

    init(_ answer: TransferResponse) { text = String(decoding: answer.body, as: UTF8.self) }

    init(text: String) { self.text = text }

    /// Whether it reports an error, which S3 does with status 200 where the work took long (AWS, "CompleteMultipartUpload").
    var isError: Bool { text.contains("<Error>") }

    /// The first element of a name.
    func first(_ name: String) -> String? { all(name, limit: 1).first.map(Self.decoded) }

    /// The elements of a name, each to be asked in turn.
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

    /// XML's own five names, and `&#34;` as some servers write an ETag's quotes.
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
