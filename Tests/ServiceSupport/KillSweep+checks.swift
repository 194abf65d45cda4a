import Foundation
import GRDB
import Glibc

extension KillSweep {
    /// Returns the violations after a run: of the threat table's I1 to I7, as far as one integration can violate them.
    func violations(of commit: String, number: Int, victim: Victim?) throws -> [String] {
        var found: [String] = []
        let listed = try integrations(of: commit)
        if listed.count != 1 { found.append("the commit has \(listed.count) integrations instead of one") }
        let view = try service.client.get("bots/kit/integrations/\(number)")
        if view["result"] as? String == "succeeded" {
            succeeded += 1
        } else {
            found.append("kit#\(number) is \(view["result"] ?? "?"): \(view["reason"] ?? "")")
        }
        found += attemptViolations(number, allowed: victim == .supervisor ? 2 : 1)
        found += try versionViolations()
        if try service.log("kit", number) != Self.log { found.append("kit#\(number) answers with another log") }
        found += try databaseViolations()
        found += Leftovers(service: service).awaitNone()
        return found
    }

    /// No step of an attempt runs twice, there are no more attempts than allowed, and every log has all output of its steps, in pieces without a
    /// gap.
    private func attemptViolations(_ number: Int, allowed: Int) -> [String] {
        var found: [String] = []
        let job = service.state + "/integrations/kit/\(number)/debug"
        let attempts = attempts(in: job)
        if attempts.isEmpty || attempts.count > allowed {
            found.append("\(attempts.count) attempts, where \(allowed) are allowed")
        }
        let lines = service.text("steps").split(separator: "\n")
        for attempt in attempts {
            found += logViolations("\(job)/\(attempt)", isWhole: attempt == attempts.last)
            if isSandboxed { continue }
            let ran = lines.filter { $0.hasSuffix(" \(job)/\(attempt) ") }.map { $0.split(separator: " ")[0] }
            if Set(ran).count != ran.count { found.append("attempt \(attempt) ran \(ran)") }
            if attempt == attempts.last, ran != ["build", "test"] { found.append("the last attempt ran \(ran)") }
        }
        return found
    }

    private func logViolations(_ attempt: String, isWhole: Bool) -> [String] {
        guard let bytes = logBytes(attempt) else { return isWhole ? ["\(attempt) has no log"] : [] }
        let text = String(decoding: bytes, as: UTF8.self)
        var found: [String] = []
        if isWhole ? text != Self.log : !Self.log.hasPrefix(text) {
            found.append("\(attempt) has another log: \(text.prefix(200))")
        }
        // A record has 24 bytes; the first eight are the position of its beginning.
        let index = [UInt8](FileManager.default.contents(atPath: attempt + "/log.index") ?? Data())
        var last: UInt64?
        for start in stride(from: 0, to: index.count / 24 * 24, by: 24) {
            let offset = (0..<8).reduce(UInt64(0)) { $0 | UInt64(index[start + $1]) << UInt64(8 * $1) }
            if last == nil ? offset != 0 : offset <= last ?? 0 || offset > UInt64(bytes.count) {
                found.append("\(attempt)/log.index has a gap at record \(start / 24)")
            }
            last = offset
        }
        return found
    }

    /// In this order: a log is removed only after its compressed form exists, which another program than ours reads here.
    func logBytes(_ attempt: String) -> Data? {
        if let bytes = FileManager.default.contents(atPath: attempt + "/log") { return bytes }
        let copy = service.root + "/log.copy"
        defer { unlink(copy) }
        // A log that cannot be read counts as missing, which is reported.
        guard (try? Shell.run("zstd", ["-q", "-d", "-f", attempt + "/log.zst", "-o", copy])) != nil else { return nil }
        return FileManager.default.contents(atPath: copy)
    }

    /// Each version is complete when it is first seen and never changes, and each green integration has one.
    private func versionViolations() throws -> [String] {
        var found: [String] = []
        let versions = publishedVersions
        for version in versions where published[version] == nil {
            published[version] = try sums(of: version)
            if let fault = try fault(of: version) { found.append(fault) }
        }
        if Set(versions) != Set(published.keys) { found.append("a published version is gone") }
        if versions.count != succeeded { found.append("\(versions.count) versions of \(succeeded) green integrations") }
        return found
    }

    private var publishedVersions: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: service.state + "/files/kit")) ?? []).filter {
            $0.hasPrefix("1.0.")
        }
    }

    /// Compares the bytes of all versions. Each run adds a version, so this is done on request and not after each run.
    /// - Returns: The versions whose bytes have changed since they were first seen.
    package func changedVersions() throws -> [String] {
        try publishedVersions.sorted().compactMap { version in
            if let known = published[version], known != (try sums(of: version)) {
                return "\(version) has other bytes than before"
            }
            return try fault(of: version)
        }
    }

    private func sums(of version: String) throws -> String {
        try Shell.run("/bin/sh", ["-c", "cd '\(service.state)/files/kit/\(version)' && sha256sum * "])
    }

    private func fault(of version: String) throws -> String? {
        let directory = "\(service.state)/files/kit/\(version)"
        return Shell.wait(try Shell.start(["sha256sum", "--quiet", "-c", "SHA256SUMS"], in: directory)) == 0
            ? nil : "\(version) is not whole"
    }

    func databaseViolations() throws -> [String] {
        var configuration = Configuration()
        configuration.readonly = true
        let queue = try DatabaseQueue(path: service.state + "/martlet.sqlite", configuration: configuration)
        defer { try? queue.close() }  // Read only: nothing can be lost by it.
        return try queue.read { database in
            var found: [String] = []
            let check = try String.fetchAll(database, sql: "PRAGMA integrity_check")
            if check != ["ok"] { found.append("integrity_check: \(check)") }
            let orphans = try Row.fetchAll(database, sql: "PRAGMA foreign_key_check").count
            if orphans > 0 { found.append("foreign_key_check: \(orphans)") }
            let pending = try Int.fetchOne(database, sql: "SELECT count(*) FROM deliveries WHERE fate = 'pending'") ?? 0
            if pending > 0 { found.append("\(pending) deliveries without an outcome") }
            let open =
                try Int.fetchOne(database, sql: "SELECT count(*) FROM integrations WHERE state <> 'completed'") ?? 0
            if open > 0 { found.append("\(open) integrations are not completed") }
            let endless =
                try Int.fetchOne(
                    database,
                    sql: """
                        SELECT count(*) FROM attempts JOIN integrations ON integrations.id = attempts.integration
                        WHERE integrations.state = 'completed' AND attempts.state <> 'processed'
                        """) ?? 0
            if endless > 0 { found.append("\(endless) attempts of completed integrations have no end") }
            let reserved =
                try Int.fetchOne(database, sql: "SELECT count(*) FROM versions WHERE state = 'reserved'") ?? 0
            if reserved > 0 { found.append("\(reserved) numbers of versions are taken by nobody") }
            let removed =
                try Int.fetchOne(database, sql: "SELECT count(*) FROM integrations WHERE removed_at IS NOT NULL") ?? 0
            if removed > 0 { found.append("\(removed) integrations are removed in part") }
            return found
        }
    }
}
