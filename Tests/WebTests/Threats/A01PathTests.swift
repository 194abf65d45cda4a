import HTTPTypes
import Model
import TestSupport
import Testing

@testable import Web

/// Other spellings of protected paths.
@Suite struct A01PathTests {
    /// Returns spellings of the path that a proxy or a framework may treat as equal.
    private static func spellings(_ path: String) -> [String] {
        let last = path.split(separator: "/").last.map(String.init) ?? ""
        let first = last.utf8.first.map { "%" + String($0, radix: 16) } ?? ""
        let encoded = "\(path.dropLast(last.utf8.count))\(first)\(last.dropFirst())"
        return [
            "/" + path, path.replacing("/api/", with: "//api//"), path.replacing("/api/", with: "/./api/"),
            "/static/%2e%2e" + path, "/static/.." + path, "/%2e" + path, path + "/", path + "/.", path + ";x",
            path + "%3bx",
            ";x" + path, path + ".json", path + ".css", path.uppercased(), path + "%00", path + "%20", path + ".",
            path + "%2f",
            path.replacing("/", with: "%2f"), path.replacing("/", with: "\\"), path + "%c0%af", encoded,
            "/hax?jsp=\(path);.jsp", "/hax?jsp=/app/rest/server;.jsp", "/res/../admin", "/x/RPC2", "/health" + path,
        ]
    }

    /// Returns paths that are as canonical as the path itself: the query is not part of it.
    private static func queries(_ path: String) -> [String] {
        [path + "?jsp=/health;.jsp", path + "?", path + "?.css"]
    }

    @Test(
        .proves(
            .web,
            "Threats A1 to A19: paths, roles, forgery, streams, sessions, JWT, tokens, foreign numbers, arguments, first owner, forged headers, injection, errors, control characters, HTTP/2, frames"
        ))
    func testA1ThatNoSpellingOfAProtectedPathGetsMoreThanThePath() async throws {
        try await withWeb(anonymousMayRead: false) { web in
            var asked = 0
            let routes = web.table.routes.filter { !$0.access.isWithoutUser }
            for route in routes {
                let path = A02RoleTests.path(of: route)
                let canonical = try await web.send(route.method.rawValue, path)
                #expect(canonical.status == 401, "\(route.pattern)")
                for spelling in Self.queries(path) {
                    let answer = try await web.send(route.method.rawValue, spelling)
                    #expect(answer.status == canonical.status, "\(route.method) \(spelling)")
                }
                for spelling in Self.spellings(path) {
                    let answer = try await web.send(route.method.rawValue, spelling)
                    #expect(
                        [400, 401, 404, 405].contains(answer.status), "\(route.method) \(spelling): \(answer.status)")
                    asked += 1
                }
            }
            #expect(asked > 1500)
        }
    }

    /// The refusal of a role is given only for the path itself. Another spelling gives no further access.
    @Test func testA1ThatNoSpellingGivesAViewerMore() async throws {
        try await withWeb { web in
            let routes = web.table.routes.filter { $0.access == .role(.admin) || $0.access == .role(.operator) }
            #expect(routes.count > 8)
            for route in routes {
                let path = A02RoleTests.path(of: route)
                try await web.expect(403, route.method.rawValue, path, as: .viewer)
                for spelling in Self.spellings(path) {
                    let answer = try await web.send(route.method.rawValue, spelling, as: .viewer)
                    #expect(
                        [400, 403, 404, 405].contains(answer.status), "\(route.method) \(spelling): \(answer.status)")
                }
            }
        }
    }
}
