import API
import HTTPTypes
import Hummingbird
import Integrations
import Jobs
import Model

/// Hands secrets to the nodes of clusters. The proof is the one-time token in the body, which `Operations` checks.
struct HandoverRoutes: Sendable {
    let site: Site

    var routes: [Route] {
        [
            Route(
                .post, SecretHandover.path, .attempt, bodyLimit: 4096,
                "The secrets of the job that a node runs, for its attempt's one-time token: {token, use}. Nodes of clusters ask for it."
            ) { call in
                let wish = try await call.json(API.SecretsRequest.self)
                for (key, text) in [("token", wish.token), ("use", wish.use)] {
                    let isPlain = text.utf8.allSatisfy {
                        (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
                    }
                    guard isPlain, (16...128).contains(text.utf8.count) else {
                        throw Problem(400, "`\(key)` is 16 to 128 letters and digits.")
                    }
                }
                let peer = call.address?.description ?? "an unknown address"
                let secrets = try await site.operations.secrets(token: wish.token, use: wish.use, from: peer)
                let items = secrets.sorted { $0.key < $1.key }.map {
                    API.JobSecretValue(variable: $0.key, value: $0.value)
                }
                var response = try Response.json(API.JobSecrets(items: items))
                response.headers[.cacheControl] = "no-store"
                // The tag is a digest of the secrets.
                response.headers[.eTag] = nil
                return response
            }.described(
                "fetchSecrets", .tokens, body: API.SecretsRequest.self,
                example: ["token": "abcdefghijklmnopqrstuvwxyz", "use": "abcdefghijklmnopqrstuvwxyz"],
                .json(API.JobSecrets.self))
        ]
    }
}
