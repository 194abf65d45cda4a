import Archives
import Basics
import Foundation
import Model
import TestSupport
import Testing

@testable import Forges
@testable import Integrations

/// The proofs of a delivery, form by form.
@Suite struct WebhookProofTests {
    private static let now = Timestamp(secondsSinceEpoch: 1_614_265_330)

    private func holds(
        _ forge: Forge, _ headers: [String: String], _ body: [UInt8] = Array("Hello".utf8), secret: String = "a secret",
        at now: Timestamp = now
    ) -> Bool {
        let delivery = ForgeDelivery(forge: forge, bot: nil, headers: headers, body: body)
        // A body in memory can always be read.
        return (try? WebhookProof(of: delivery)?.holds(over: delivery.signed(), secret: secret, at: now)) ?? false
    }

    /// The vector's own result, except for SHA-1 alone, which is right and refused.
    @Test(
        .proves(.intake, "Every collected body understood as its golden or its name says; every signature vector"),
        .corpus)
    func testThatItAgreesWithEveryPublishedVector() throws {
        struct Vectors: Decodable {
            struct Vector: Decodable {
                var name: String
                var secret: String
                var header: [String: String]
                var valid: Bool
                var bodyUtf8: String?
                var bodyFile: String?
                var nowUnix: Int64?
            }
            var vectors: [Vector]
        }
        let bytes = try Corpus.file("signatures/webhook-signatures.json").bytes()
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let vectors = try decoder.decode(Vectors.self, from: Data(bytes)).vectors
        var checked = 0
        for vector in vectors {
            let headers = Dictionary(vector.header.map { ($0.key.lowercased(), $0.value) }) { $1 }
            let isSHA1 = headers["x-hub-signature"]?.hasPrefix("sha1=") == true
            let forge: Forge =
                if headers["webhook-id"] != nil || headers["x-gitlab-token"] != nil {
                    .gitlab
                } else if headers["x-gitea-signature"] != nil {
                    .gitea
                } else if headers["x-hub-signature"] != nil, !isSHA1 {
                    .bitbucket
                } else {
                    .github
                }
            // Some bodies are too large for the corpus. A token needs none, and a refusal holds for any.
            let body: [UInt8]
            if let text = vector.bodyUtf8 {
                body = Array(text.utf8)
            } else if let file = vector.bodyFile, FileManager.default.fileExists(atPath: Corpus.file(file).path) {
                body = try Corpus.file(file).bytes()
            } else if forge == .gitlab || !vector.valid || isSHA1 {
                body = []
            } else {
                continue
            }
            checked += 1
            let now = Timestamp(secondsSinceEpoch: vector.nowUnix ?? 0)
            let isValid = holds(forge, headers, body, secret: vector.secret, at: now)
            #expect(isValid == (vector.valid && !isSHA1), "\(vector.name)")
        }
        #expect(checked >= 13)
    }

    @Test(arguments: ForgeSample.hosted) func testThatOnlyTheForgesOwnFormCounts(forge: Forge) {
        let body = Array("Hello".utf8)
        for other in Forge.allCases {
            let proof = ForgeSample.proof(other, body)
            let own = ForgeSample.proof(forge, body).name
            // Forgejo sends Gitea's header too, and older versions send only that.
            let isOwn = proof.name == own || (forge == .forgejo && other == .gitea)
            #expect(holds(forge, [proof.name: proof.value]) == isOwn, "\(forge) by \(other)'s \(proof.name)")
        }
    }

    @Test(.proves(.intake, "Webhooks of Gitea and Forgejo, also as a form; Forgejo's own header is preferred"))
    func testThatForgejosOwnHeaderDecidesWhereItIsThere() {
        let right = ForgeSample.hmac(Array("Hello".utf8))
        let wrong = ForgeSample.hmac(Array("Hello".utf8), "another")
        #expect(holds(.forgejo, ["x-forgejo-signature": right, "x-gitea-signature": wrong]))
        #expect(!holds(.forgejo, ["x-forgejo-signature": wrong, "x-gitea-signature": right]))
        #expect(!holds(.forgejo, ["x-forgejo-signature": "", "x-gitea-signature": right]))
    }

    @Test(arguments: ForgeSample.hosted) func testThatAnEmptySecretSignsNothing(forge: Forge) {
        let proof = ForgeSample.proof(forge, Array("Hello".utf8), "")
        #expect(!holds(forge, [proof.name: proof.value], secret: ""))
    }

    @Suite struct GivenASigningToken {
        private let outer = WebhookProofTests()
        private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        private static let good = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
        private static let body = Array(#"{"test": 2432232314}"#.utf8)

        private func holds(
            _ signature: String = good, id: String? = "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: String? = "1614265330",
            secret: String = secret, after seconds: Int64 = 0, token: String? = nil
        ) -> Bool {
            var headers = ["webhook-signature": signature]
            headers["webhook-id"] = id
            headers["webhook-timestamp"] = timestamp
            headers["x-gitlab-token"] = token
            return outer.holds(
                .gitlab, headers, Self.body, secret: secret,
                at: Timestamp(secondsSinceEpoch: 1_614_265_330 + seconds))
        }

        @Test(.proves(.intake, "Webhooks of GitLab: token, and Standard Webhooks signature"))
        func testW6ThatItHoldsForFiveMinutesEitherWay() {
            #expect(holds(after: 300) && holds(after: -300))
            #expect(!holds(after: 301) && !holds(after: -301))
        }

        @Test(.proves(.intake, "Webhooks of GitLab: token, and Standard Webhooks signature"))
        func testThatOneGoodSignatureOfSeveralIsEnough() {
            let other = "v1,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc="
            #expect(holds("\(other) v2,AAAA \(Self.good)"))
            #expect(holds("\(Self.good) \(other)"))
            #expect(!holds("\(other) \(other)"))
            #expect(!holds(Array(repeating: other, count: 16).joined(separator: " ") + " " + Self.good))
        }

        @Test(arguments: [
            "", "v1", "v1,", "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
            "v2,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=", "V1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OF=", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1O",
            "v1,h0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        ])
        func testThatAnotherFormIsRefused(signature: String) { #expect(!holds(signature)) }

        @Test func testThatTheIdentifierAndTheTimeAreSigned() {
            #expect(!holds(id: "msg_other"))
            #expect(!holds(id: nil))
            #expect(!holds(id: ""))
            #expect(!holds(timestamp: "1614265331"))
            for timestamp in [nil, "", "+1614265330", "1614265330.0", "99999999999999999999", "-1", "1614265330 "] {
                #expect(!holds(timestamp: timestamp))
            }
        }

        /// An attacker who can read requests must not be able to replay what he read.
        @Test(.proves(.intake, "Webhooks of GitLab: token, and Standard Webhooks signature"))
        func testThatTheTokenAloneDoesNotCount() {
            #expect(!holds("", token: Self.secret))
            #expect(!outer.holds(.gitlab, ["x-gitlab-token": Self.secret], Self.body, secret: Self.secret))
        }

        @Test(arguments: ["whsec_", "whsec_=", "whsec_*", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSx"])
        func testThatABrokenKeySignsNothing(secret: String) {
            let message = Array("msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.".utf8) + Self.body
            let unkeyed = Data(Digest.hmacSHA256(key: [], message: message)).base64EncodedString()
            #expect(!holds("v1,\(unkeyed) \(Self.good)", secret: secret))
        }

        /// The bot may have GitLab's older secret while the hook has both.
        @Test func testThatASignatureBesideATokenDoesNoHarm() {
            #expect(holds(secret: "hunter2", token: "hunter2"))
            #expect(holds("v1,", secret: "hunter2", token: "hunter2"))
            #expect(!holds(secret: "hunter2", token: "hunter3"))
        }
    }
}
