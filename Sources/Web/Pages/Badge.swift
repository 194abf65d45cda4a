import Model

/// A badge for a README, the bot's name and its latest result as text: an SVG, or the facts for a service that draws it.
struct Badge: Sendable {
    let label: String
    let result: IntegrationResult?

    var svg: String {
        let word = result.map(\.description) ?? "none yet"
        // A character of an 11 px sans-serif face is about 7 units wide; `textLength` makes the width exact in every font.
        let left = label.count * 7 + 12
        let right = word.count * 7 + 12
        return """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(left + right)" height="20" role="img" \
            aria-label="\(HTMLText.escape(label)): \(HTMLText.escape(word))">
            <clipPath id="r"><rect width="\(left + right)" height="20" rx="3"/></clipPath>
            <g clip-path="url(#r)"><rect width="\(left)" height="20" fill="#3b3f45"/>
            <rect x="\(left)" width="\(right)" height="20" fill="\(color)"/></g>
            <g fill="#fff" font-family="system-ui,Verdana,sans-serif" font-size="11">
            <text x="6" y="14" textLength="\(left - 12)">\(HTMLText.escape(label))</text>
            <text x="\(left + 6)" y="14" textLength="\(right - 12)">\(HTMLText.escape(word))</text></g></svg>

            """
    }

    /// The badge in the endpoint schema of shields.io (shields.io/badges/endpoint-badge), which refuses other members.
    var endpoint: JSONValue {
        let isError: Bool =
            switch result {
            case .verdict(.checkoutError), .verdict(.internalError), .triggerError: true
            default: false
            }
        return [
            "schemaVersion": 1, "label": .string(label), "message": .string(result?.description ?? "none yet"),
            "color": .string(String(color.dropFirst())), "isError": .bool(isError), "cacheSeconds": 300,
        ]
    }

    private var color: String {
        switch result {
        case nil, .verdict(.canceled): "#6b7178"
        case .verdict(.succeeded): "#1a7f4b"
        case .verdict(.warnings), .verdict(.analyzerWarnings): "#8a6100"
        case .verdict(.testFailures), .verdict(.buildErrors): "#b3261e"
        case .verdict(.checkoutError), .verdict(.internalError), .triggerError: "#6a3fa0"
        }
    }
}
