import Basics
import FoundationEssentials
import Model

/// An in-toto statement (in-toto/attestation, "statement.md" v1) with SLSA's provenance v1 as its predicate.
struct Statement: Codable {
    static let type = "https://in-toto.io/Statement/v1"
    static let predicateType = "https://slsa.dev/provenance/v1"
    /// docs/guide/provenance.md describes the parameters of this build type.
    static let buildType = "urn:martlet:integration:v1"

    struct Subject: Codable {
        var name: String
        var digest: [String: String]
    }

    struct Dependency: Codable {
        var uri: String
        var digest: [String: String]
        var name: String?
        var annotations: [String: String]?
    }

    struct Predicate: Codable {
        var buildDefinition: Definition
        var runDetails: Run
    }

    struct Definition: Codable {
        var buildType: String
        var externalParameters: External
        var internalParameters: Internal
        var resolvedDependencies: [Dependency]
    }

    /// The parameters that are chosen by the user who requests a build.
    struct External: Codable {
        var repository: String
        var ref: String
        var product: String
        var version: String
        /// The recipe that ran, as canonical JSON, and its digest.
        var recipe: String
        var recipeDigest: [String: String]
        var configuration: String?
    }

    /// The parameters that the service determines.
    struct Internal: Codable {
        var isolation: String
        var bot: String
        var toolchain: Provenance.Toolchain?
    }

    struct Run: Codable {
        struct Builder: Codable {
            var id: String
            var version: [String: String]
        }

        struct Metadata: Codable {
            var invocationId: String
            var startedOn: String
            var finishedOn: String
        }

        var builder: Builder
        var metadata: Metadata
    }

    var type: String
    var subject: [Subject]
    var predicateType: String
    var predicate: Predicate

    private enum CodingKeys: String, CodingKey {
        case type = "_type"
        case subject, predicateType, predicate
    }

    /// Creates the statement about a version.
    /// - Parameter digests: The SHA-256 digests of every file of the version, except the statement itself, the
    ///   checksums and their signature.
    init(_ provenance: Provenance, _ manifest: VersionManifest, digests: [String: String]) {
        type = Self.type
        subject = digests.sorted { $0.key < $1.key }.map { Subject(name: $0.key, digest: ["sha256": $0.value]) }
        predicateType = Self.predicateType
        let recipe = provenance.recipe
        predicate = Predicate(
            buildDefinition: Definition(
                buildType: Self.buildType,
                externalParameters: External(
                    repository: provenance.repository, ref: manifest.ref.description,
                    product: manifest.product.description, version: manifest.version.description, recipe: recipe,
                    recipeDigest: ["sha256": Digest.sha256(of: Array(recipe.utf8))],
                    configuration: provenance.configuration?.description),
                internalParameters: Internal(
                    isolation: manifest.isolation, bot: manifest.integration.bot.description,
                    toolchain: provenance.toolchain),
                resolvedDependencies: provenance.inputs.map {
                    Dependency(uri: $0.uri, digest: $0.digest, name: $0.name, annotations: $0.annotations)
                }),
            runDetails: Run(
                builder: .init(id: provenance.builder, version: ["martlet": provenance.builderVersion]),
                metadata: .init(
                    invocationId: Self.invocation(manifest.integration, of: provenance.builder),
                    startedOn: provenance.startedAt.description, finishedOn: provenance.finishedAt.description)))
    }

    /// Returns the URL of the integration's page.
    static func invocation(_ integration: IntegrationID, of builder: String) -> String {
        "\(builder)/bots/\(integration.bot)/\(integration.number)"
    }
}
