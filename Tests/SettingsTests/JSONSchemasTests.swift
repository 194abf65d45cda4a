import Foundation
import TestSupport
import Testing

@testable import Settings

@Suite struct JSONSchemasTests {
    private func properties(_ name: String, _ path: [String]) throws -> [String] {
        let text = try #require(JSONSchemas.schema(name))
        var value = try JSONSerialization.jsonObject(with: Data(text.utf8))
        for key in path + ["properties"] {
            let member = Int(key).flatMap { (value as? [Any])?[$0] } ?? (value as? [String: Any])?[key]
            value = try #require(member, "\(name) has no \(key) in \(path)")
        }
        return try #require(value as? [String: Any]).keys.sorted()
    }

    @Test(
        .proves(
            .releases,
            "Versions: `version: { file: VERSION }` and `version: { command: … }`, the latter sandboxed like a job"),
        .proves(
            .releases,
            "Versions: `retention:` by number, age, bytes and files, in the settings and, key by key, in a bot file; without it nothing goes"
        ), .proves(.notices, "A bot file's `notify` has `when`, `branches` and `tags`; errors have their place"))
    func testThatTheyHaveTheReadersKeysAndNoOthers() throws {
        let trigger = ["properties", "triggers", "items"]
        let recipe = ["$defs", "recipe"]
        let configuration = ["properties", "configurations", "additionalProperties"]
        func expect(_ schema: String, _ path: [String], _ keys: [Key]) throws {
            expectNoDifference(try properties(schema, path), Keys.names(keys).sorted(), "\(schema) \(path)")
        }
        try expect("settings", [], Keys.settings)
        try expect("bot", [], Keys.bot)
        for schema in ["settings", "bot"] { try expect(schema, ["$defs", "retention"], Keys.retention) }
        try expect("settings", ["$defs", "serviceRetention"], Keys.serviceRetention)
        try expect("bot", ["properties", "webhook"], Keys.webhook)
        try expect("bot", ["properties", "status"], Keys.status)
        // The mapping is the second alternative, after the line.
        try expect("bot", ["properties", "paths", "oneOf", "1"], Keys.paths)
        try expect("bot", ["properties", "schedule", "oneOf", "1"], Keys.schedule)
        try expect("bot", trigger, Keys.trigger)
        try expect("bot", trigger + ["properties", "publish"], Keys.publish)
        try expect("bot", trigger + ["properties", "publish", "properties", "version", "oneOf", "1"], Keys.version)
        for (schema, base) in [("recipe", []), ("bot", recipe)] {
            try expect(schema, base, Keys.recipe)
            try expect(schema, base + configuration, Keys.configuration)
            try expect(schema, base + configuration + ["properties", "steps", "items"], Keys.step)
            try expect(schema, base + ["properties", "archive"], Keys.archive)
            try expect(schema, base + configuration + ["properties", "needs"], Keys.needs)
            // The schema of a command is the second alternative.
            expectNoDifference(
                try properties(schema, base + ["properties", "analyze", "items", "oneOf", "1"]),
                Keys.names(Keys.analysis).sorted())
        }
        try expect("settings", ["properties", "sandbox"], Keys.sandbox)
        try expect("settings", ["properties", "mail"], Keys.mail)
        let executor = ["properties", "executors", "additionalProperties"]
        try expect("settings", executor, Keys.executor)
        try expect("settings", executor + ["properties", "slurm"], Keys.slurm)
        try expect("settings", ["properties", "sign-in"], Keys.signIn)
        try expect("settings", ["properties", "sign-in", "properties", "openid"], Keys.openID)
        try expect("settings", ["$defs", "roles"], Keys.roles)
        try expect("settings", ["$defs", "roleRule"], Keys.roleRule)
        try expect("bot", ["properties", "notify", "items"], Keys.notice)
        try expect("bot", ["properties", "secrets", "items"], Keys.jobSecret)
    }

    /// Editors show the description of a key beside it.
    @Test(
        .proves(.settings, "Every key of the JSON Schemas has a description, and each schema has an `$id`"),
        arguments: JSONSchemas.names)
    func testThatEveryKeyHasADescription(_ name: String) throws {
        let text = try #require(JSONSchemas.schema(name))
        let document = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        #expect(document["$id"] as? String == "urn:martlet:schema:\(name)")
        #expect((document["description"] as? String)?.hasSuffix(".") == true)
        var (keys, bare): (Int, [String]) = (0, [])
        func visit(_ value: Any, _ path: String) {
            for (index, item) in (value as? [Any] ?? []).enumerated() { visit(item, "\(path)/\(index)") }
            for (key, item) in value as? [String: Any] ?? [:] { visit(item, "\(path)/\(key)") }
            for (key, item) in (value as? [String: Any])?["properties"] as? [String: Any] ?? [:] {
                keys += 1
                let description = (item as? [String: Any])?["description"] as? String ?? ""
                if description.count < 8 { bare.append("\(path)/\(key)") }
            }
        }
        visit(document, "")
        #expect(keys > 20)
        #expect(bare == [])
    }

    @Test(arguments: JSONSchemas.names)
    func testThatTheyAreJSONOfTheDraft(_ name: String) throws {
        let text = try #require(JSONSchemas.schema(name))
        let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        #expect(object["$schema"] as? String == "https://json-schema.org/draft/2020-12/schema")
        #expect(JSONSchemas.schema("other") == nil)
    }
}
