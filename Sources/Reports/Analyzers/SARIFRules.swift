import Encodings
import Model

/// The rules of a run, from its driver and its extensions.
struct SARIFRules {
    private let driver: JSON
    private let extensions: [JSON]
    /// The rules of all components by identifier. The driver's take precedence.
    private var byIdentifier: [String: JSON] = [:]
    /// The driver's rules by index. They are needed often, so they are extracted once.
    private let driverRules: [JSON]
    private let extensionRules: [[JSON]]
    /// The levels that an invocation sets for the driver's rules (section 3.20.5), by identifier.
    private var overrides: [String: String] = [:]

    /// The most parts of an identifier that are removed to find its rule.
    private static let maximumParts = 20

    init(_ run: JSON) {
        driver = run["tool"]["driver"]
        extensions = run["tool"]["extensions"].elements ?? []
        driverRules = driver["rules"].elements ?? []
        extensionRules = extensions.map { $0["rules"].elements ?? [] }
        for rule in extensionRules.joined() + driverRules {
            if let id = rule["id"].string { byIdentifier[id] = rule }
        }
        for invocation in run["invocations"].elements ?? [] {
            for override in invocation["ruleConfigurationOverrides"].elements ?? [] {
                let descriptor = override["descriptor"]
                let index = descriptor["index"].int ?? -1
                let id =
                    descriptor["id"].string
                    ?? (driverRules.indices.contains(index) ? driverRules[index]["id"].string : nil)
                if let id { overrides[id] = override["configuration"]["level"].string }
            }
        }
    }

    /// Returns the rule's description; a missing value if the run has none.
    func rule(of result: JSON) -> JSON {
        let reference = result["rule"]
        if let index = result["ruleIndex"].int ?? reference["index"].int, index >= 0 {
            let component = reference["toolComponent"]["index"].int
            let rules: [JSON] =
                component.map { extensionRules.indices.contains($0) ? extensionRules[$0] : [] } ?? driverRules
            if rules.indices.contains(index) { return rules[index] }
        }
        guard var id = result["ruleId"].string ?? reference["id"].string else { return .nothing }
        // Section 3.27.5: `CA1000/1` is a subdivision of `CA1000`.
        for _ in 0..<Self.maximumParts {
            if let rule = byIdentifier[id] { return rule }
            guard id.utf8.count <= TextLimit.nameBytes, let slash = id.lastIndex(of: "/") else { break }
            id = String(id[..<slash])
        }
        return .nothing
    }

    func identifier(of result: JSON, rule: JSON) -> String {
        result["ruleId"].string ?? result["rule"]["id"].string ?? rule["id"].string ?? ""
    }

    /// Returns a result's level (section 3.27.10): its own, otherwise the one that the invocation set, otherwise the rule's default, otherwise
    /// `warning`.
    func level(of result: JSON, rule: JSON) -> String {
        result["level"].string ?? overrides[identifier(of: result, rule: rule)] ?? rule["defaultConfiguration"]["level"]
            .string ?? "warning"
    }

    /// Returns a result's text with its arguments inserted (section 3.11.5). It comes from the result, or by its message's id from the rule.
    func message(of result: JSON, rule: JSON) -> String {
        let message = result["message"]
        let arguments = (message["arguments"].elements ?? []).map { $0.string ?? "" }
        var text = message["text"].string
        if text == nil, let id = message["id"].string {
            text = rule["messageStrings"][id]["text"].string ?? driver["globalMessageStrings"][id]["text"].string
        }
        let found =
            text ?? message["markdown"].string ?? rule["shortDescription"]["text"].string
            ?? rule["fullDescription"]["text"].string ?? rule["name"].string
        guard let found else { return identifier(of: result, rule: rule) }
        return Self.filled(found, arguments)
    }

    /// Returns a text in which `{0}` is replaced by the first argument, and `{{` and `}}` by single braces.
    private static func filled(_ whole: String, _ arguments: [String]) -> String {
        // Messages are cut at this limit.
        let text = TextLimit.cut(whole, toBytes: Finding.maximumMessageBytes)
        guard !arguments.isEmpty, text.utf8.contains(UInt8(ascii: "{")) else { return text }
        var filled = ""
        var rest = text[...]
        while let brace = rest.firstIndex(where: { $0 == "{" || $0 == "}" }) {
            filled += rest[..<brace]
            let after = rest[rest.index(after: brace)...]
            if after.first == rest[brace] {
                filled.append(rest[brace])
                rest = after.dropFirst()
            } else if rest[brace] == "{", let end = after.prefix(6).firstIndex(of: "}"), let index = Int(after[..<end]),
                arguments.indices.contains(index)
            {
                filled += TextLimit.cut(arguments[index], toBytes: 4096)
                rest = after[after.index(after: end)...]
            } else {
                filled.append(rest[brace])
                rest = after
            }
            // Arguments may be long and repeated, and the message is cut at its limit later.
            if filled.utf8.count > 64 * 1024 { return filled }
        }
        return filled + rest
    }
}
