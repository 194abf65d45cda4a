import API
import Foundation
import HTTPTypes
import JobProtocol
import TestSupport
import Testing

@testable import Web

@Suite struct OpenAPITests {
    @Test(.proves(.web, "`/openapi.json` describes each route of the interface: id, tag, parameters, body and answer"))
    func testThatEveryRouteOfTheInterfaceIsDescribed() async throws {
        try await withWeb { web in
            // given
            let routes = web.table.routes.filter { $0.pattern.description.hasPrefix("/api/v1/") }
            // when
            let ids = routes.compactMap(\.operation?.id)
            // then
            #expect(routes.filter { $0.operation == nil }.map { "\($0.method) \($0.pattern)" } == [])
            #expect(ids.count > 40)
            #expect(Set(ids).count == ids.count)
        }
    }

    @Test(.proves(.web, "`/openapi.json` describes each route of the interface: id, tag, parameters, body and answer"))
    func testThatTheDocumentRefersOnlyToItsSchemas() async throws {
        try await withWeb { web in
            // when
            let document = try JSON(Array(try await web.json("/openapi.json").utf8), limit: 4 << 20)
            // then
            let schemas = try #require(document["components"]?["schemas"]?.members)
            let references = Self.references(in: document)
            #expect(document["openapi"] == .string("3.1.0"))
            #expect(references.count > 30)
            #expect(Set(references).subtracting(schemas.keys.map { "#/components/schemas/\($0)" }) == [])
            let paths = try #require(document["paths"]?.members)
            #expect(paths["/bots/{bot}"] == nil, "pages are left out")
            let bots = paths["/api/v1/bots"]?["get"]
            #expect(bots?["operationId"] == .string("listBots"))
            #expect(
                bots?["responses"]?["200"]?["content"]?["application/json"]?["schema"]?["$ref"]
                    == .string("#/components/schemas/BotList"))
            let integrate = paths["/api/v1/bots/{bot}/integrations"]?["post"]
            #expect(
                integrate?["requestBody"]?["content"]?["application/json"]?["schema"]?["$ref"]
                    == .string("#/components/schemas/IntegrationRequest"))
            #expect(schemas["IntegrationRequest"]?["required"] == .array([]))
            #expect(schemas["Issue"]?["properties"]?["line"]?["anyOf"]?.elements?.count == 2)
        }
    }

    @Test func testThatTheDocumentHasTheRulesOfRequests() async throws {
        try await withWeb { web in
            // when
            let document = try JSON(Array(try await web.json("/openapi.json").utf8), limit: 4 << 20)
            let schemas = try #require(document["components"]?["schemas"]?.members)
            // then: each rule is of a member that is there
            for name in RequestRules.members.keys {
                let parts = name.split(separator: ".")
                let object = parts.dropLast().joined(separator: "."), member = String(parts.last ?? "")
                #expect(schemas[object]?["properties"]?[member] != nil, "\(name)")
            }
            for name in RequestRules.objects.keys { #expect(schemas[name] != nil, "\(name)") }
            #expect(schemas["CancelRequest"]?["properties"]?["grace"]?["maximum"] == .integer(600))
            #expect(schemas["SilenceRequest"]?["anyOf"]?.elements?.count == 2)
            let path = document["paths"]?["/api/v1/bots/{bot}/integrations/{number}"]?["get"]?["parameters"]?.elements
            let number = path?.first { $0["name"] == .string("number") }
            #expect(number?["schema"]?["type"] == .array([.string("string"), .string("integer")]))
        }
    }

    /// Also holds the types that write the members of another one as their own.
    @Test(
        .proves(
            .web, "The schemas of `/openapi.json` are made of the types that the service writes and the commands read"),
        arguments: [true, false])
    func testThatEachAnswerIsWrittenAsItsSchemaSays(_ isFull: Bool) async throws {
        try await withWeb { web in
            for route in web.table.routes {
                guard let operation = route.operation, case .json(let type) = operation.answer else { continue }
                // given
                let sample = try Contract.sample(of: type, isFull: isFull)
                // when
                let text: [UInt8]
                do {
                    text = try Self.rewritten(sample, as: type)
                } catch {
                    Issue.record("\(operation.id): \(error)")
                    continue
                }
                // then
                #expect(try JSON(text, limit: 1 << 20) == sample, "\(operation.id)")
                #expect(try Contract.problems(of: text, type) == [], "\(operation.id)")
            }
        }
    }

    @Test(
        .proves(
            .web, "The schemas of `/openapi.json` are made of the types that the service writes and the commands read"))
    func testThatAnAnswerThatDiffersFromItsSchemaIsFound() throws {
        // given
        let right = #"{"product":"kit","versions":1,"latest":null}"#
        // then
        #expect(try Contract.problems(of: Array(right.utf8), API.Product.self) == [])
        for wrong in [
            #"{"product":"kit","versions":1,"latest":null,"other":1}"#, #"{"product":"kit","versions":1}"#,
            #"{"product":"kit","versions":"1","latest":null}"#, #"{"product":null,"versions":1,"latest":null}"#,
        ] {
            #expect(try Contract.problems(of: Array(wrong.utf8), API.Product.self).count == 1, "\(wrong)")
        }
    }

    @Test(
        .proves(
            .web, "`/openapi.json` says what each member of a body and of an answer is, and which words it takes"))
    func testThatEveryObjectAndMemberIsExplained() async throws {
        try await withWeb { web in
            // when
            let document = try JSON(Array(try await web.json("/openapi.json").utf8), limit: 4 << 20)
            // then
            let schemas = try #require(document["components"]?["schemas"]?.members)
            for (name, schema) in schemas {
                #expect(schema["description"]?.text != nil || name.hasPrefix("List."), "\(name)")
                for (member, value) in schema["properties"]?.members ?? [:] {
                    #expect(value["description"]?.text?.isEmpty == false, "\(name).\(member)")
                }
            }
            let state = schemas["Integration"]?["properties"]?["state"]
            #expect(state?["enum"] == .array([.string("queued"), .string("running"), .string("completed")]))
            #expect(state?["description"]?.text == "`queued`, `running` or `completed`.")
            let verdict = schemas["IntegrationDetail"]?["properties"]?["verdict"]?["anyOf"]?.elements
            #expect(verdict?.first?["enum"]?.elements?.contains(.string("test-failures")) == true)
        }
    }

    /// Otherwise a member that was renamed would silently take any text.
    @Test func testThatEachListOfWordsBelongsToAMember() async throws {
        try await withWeb { web in
            let document = try JSON(Array(try await web.json("/openapi.json").utf8), limit: 4 << 20)
            let schemas = try #require(document["components"]?["schemas"]?.members)
            for key in MemberWords.all.keys {
                let dot = try #require(key.lastIndex(of: "."))
                let member = schemas[String(key[..<dot])]?["properties"]?[String(key[key.index(after: dot)...])]
                #expect(member != nil, "\(key)")
            }
        }
    }

    @Test(
        .proves(
            .web,
            "`/openapi.json` names exactly the query parameters that a route reads, and has an example of each body"))
    func testThatARouteReadsTheParametersThatTheDocumentNames() async throws {
        try await withWeb { web in
            // given
            let sources = try RouteSources()
            // when
            for route in web.table.routes {
                guard let operation = route.operation else { continue }
                // then
                let read = try sources.parameters(of: operation.id)
                #expect(read == Set(operation.query.map(\.name)), "\(operation.id)")
                #expect((operation.body == nil) == (operation.example == nil), "\(operation.id)")
            }
        }
    }

    @Test func testThatAReaderOfRoutesFindsWhatTheyRead() throws {
        // given
        let sources = RouteSources(texts: [
            "A.swift": """
            struct A {
                let logs: B
                Route(.get, "/a", .read, "A.") { call in try call.page(); _ = call.query("x") }.described("a", .bots)
                Route(.get, "/b", .read, "B.") { try await logs.send($0) }.described("b", .bots)
            }
            """,
            "B.swift": "struct B {\n    func send(_ call: AuthorizedRequest) { call.flag(\"y\"); word(call) }\n"
                + "    func word(_ call: AuthorizedRequest) { call.number(\"z\", 1...2) }\n}\n",
            "AuthorizedRequest.swift":
                "struct AuthorizedRequest {\n    func page() { limit(50); query(\"before\") }\n    func limit() { query(\"limit\") }\n}\n",
        ])
        // then
        #expect(try sources.parameters(of: "a") == ["x", "before", "limit"])
        #expect(try sources.parameters(of: "b") == ["y", "z"])
    }

    /// Reads an answer as a type and writes it again.
    private static func rewritten<Answer: Codable>(_ sample: JSON, as type: Answer.Type) throws -> [UInt8] {
        let answer = try JSONDecoder().decode(type, from: Data(sample.bytes()))
        return try JSONWriter.bytes(of: answer)
    }

    /// All values of `$ref`.
    private static func references(in json: JSON) -> [String] {
        switch json {
        case .array(let elements): elements.flatMap { references(in: $0) }
        case .object(let members):
            members.flatMap { key, value in
                (key == "$ref" ? [value.text].compactMap(\.self) : []) + references(in: value)
            }
        default: []
        }
    }
}
