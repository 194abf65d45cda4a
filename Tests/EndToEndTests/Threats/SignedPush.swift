import Archives
import Basics
import Encodings
import Foundation
import TestSupport

extension Daemon {
    /// Sends a push as a git server does, without its hook.
    /// - Returns: The status of the answer; 0 if none came.
    func push(delivery: String, updates: Int = 0) async throws -> Int {
        let zero = String(repeating: "0", count: 40)
        let list = (0..<updates).map { number in
            #"{"ref":"refs/heads/branch-\#(number)","before":"\#(zero)","after":"\#(String(repeating: "a", count: 40))"}"#
        }
        let body = #"{"updates":[\#(list.joined(separator: ","))]}"#
        let signature = Hexadecimal.encode(Digest.hmacSHA256(key: Array("a secret".utf8), message: Array(body.utf8)))
        let result = try await run(
            TestTools.curl + [
                "-o", "/dev/null", "-w", "%{http_code}", "-X", "POST",
                "-H", "X-Hub-Signature-256: sha256=\(signature)", "-H", "X-Martlet-Delivery: \(delivery)",
                "-H", "Content-Type: application/json", "--data-binary", "@-", "\(url)/webhooks/push/kit",
            ], input: body)
        return Int(result.stdout) ?? 0
    }
}
