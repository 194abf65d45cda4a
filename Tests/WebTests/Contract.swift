import HTTPTypes
import JobProtocol
import Testing

@testable import Web

/// Compares answers with the schemas of `/openapi.json`.
struct Contract {
    private var components = Components()

    /// Larger answers are not compared, because some tests measure memory.
    private static let maximumBytes = 1 << 20

    /// Records an issue for an answer that differs from the schema of its route.
    static func check(_ answer: RawAnswer, to method: String, _ target: String, _ table: RouteTable) throws {
        guard answer.body.count <= maximumBytes, method != "HEAD", let name = HTTPRequest.Method(method) else { return }
        let path = String(target.prefix { $0 != "?" })
        guard case .route(let route, _) = table.match(name, path: path), let operation = route.operation,
            operation.status == answer.status, case .json(let type) = operation.answer
        else { return }
        let problems = try problems(of: answer.body, type)
        if !problems.isEmpty { Issue.record("\(method) \(target): \(problems.joined(separator: "; "))") }
    }

    /// Returns the differences between a text and the schema of a type.
    static func problems(of text: [UInt8], _ type: any InterfaceType.Type) throws -> [String] {
        var contract = Contract()
        let schema = try contract.components.schema(of: type)
        return contract.problems(try JSON(text, limit: maximumBytes), schema, at: "")
    }

    /// Returns an answer of a type: with a value for each property, or with null for each that may be `nil`.
    static func sample(of type: any InterfaceType.Type, isFull: Bool) throws -> JSON {
        var contract = Contract()
        // First the schema: a value is read before its method's arguments change it.
        let schema = try contract.components.schema(of: type)
        return contract.sample(schema, isFull)
    }

    private func problems(_ json: JSON, _ schema: Schema, at place: String) -> [String] {
        switch (schema, json) {
        case (.nullable, .null), (.string, .string), (.time, .string), (.integer, .integer), (.number, .integer),
            (.number, .number), (.boolean, .bool):
            return []
        case (.nullable(let schema), _): return problems(json, schema, at: place)
        case (.array(let element), .array(let elements)):
            return elements.enumerated().flatMap { problems($1, element, at: "\(place)[\($0)]") }
        case (.map(let value), .object(let members)):
            return members.flatMap { problems($1, value, at: "\(place).\($0)") }
        case (.object(let name), .object(let members)):
            let known = components.objects[name] ?? []
            let missing = known.filter { members[$0.name] == nil }.map { "\(place) has no \($0.name)" }
            let unknown = Set(members.keys).subtracting(known.map(\.name)).sorted()
            return missing + unknown.map { "\(place) has \($0), which is not in the schema \(name)" }
                + known.flatMap { member in
                    members[member.name].map { value in
                        problems(value, member.schema, at: "\(place).\(member.name)")
                            + Self.unknownWords(value, member.name, in: name)
                    } ?? []
                }
        default: return ["\(place) is not \(schema)"]
        }
    }

    /// Returns an entry for each string that is not among the words of its member.
    private static func unknownWords(_ json: JSON, _ member: String, in object: String) -> [String] {
        guard let words = MemberWords.of(member, in: object) else { return [] }
        switch json {
        case .string(let text): return words.contains(text) ? [] : ["\(object).\(member) is \(text), no word of it"]
        case .array(let elements): return elements.flatMap { unknownWords($0, member, in: object) }
        default: return []
        }
    }

    private func sample(_ schema: Schema, _ isFull: Bool, _ word: String? = nil) -> JSON {
        switch schema {
        case .string: .string(word ?? "text")
        case .time: .string("2026-03-01T12:00:00.250Z")
        case .integer: .integer(7)
        case .number: .number(1.5)
        case .boolean: .bool(true)
        case .array(let element): .array([sample(element, isFull, word)])
        case .map(let value): .object(["name": sample(value, isFull)])
        case .nullable(let schema): isFull ? sample(schema, isFull, word) : .null
        case .object(let name):
            .object(
                Dictionary(
                    (components.objects[name] ?? []).map { member in
                        (member.name, sample(member.schema, isFull, MemberWords.of(member.name, in: name)?.first))
                    },
                    uniquingKeysWith: { first, _ in first }))
        }
    }
}
