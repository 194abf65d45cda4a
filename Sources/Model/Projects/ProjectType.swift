/// A type of project that is recognized by a file. Its properties are in its `profile`.
///
/// The cases are in the order of precedence, for a root with files of several types. The manifest of a language's own tool says more than a C build,
/// which may be one of its parts. Projects of all types may have a package.json or a Makefile for auxiliary tasks.
package enum ProjectType: String, Sendable, Codable, CaseIterable {
    case swiftPackage = "swift-package"
    case cargo
    case go
    case maven
    case gradle
    case dotnet
    case mix
    case rebar3
    case dune
    case stack
    case cabal
    case cmake
    case meson
    case composer
    case bundler
    case python
    case lua
    case npm
    case perl
    case autotools
    case zig
    case bazel
    case make
    case shell

    /// The most usual marker file of each type, as a list for messages.
    package static var usualMarkers: String {
        allCases.compactMap { $0 == .make ? $0.profile.markers.last : $0.profile.markers.first }.joined(separator: ", ")
    }

    /// The commands, reports and caches of this type.
    package var profile: ProjectProfile {
        switch self {
        case .swiftPackage: .swiftPackage
        case .cargo: .cargo
        case .go: .go
        case .maven: .maven
        case .gradle: .gradle
        case .dotnet: .dotnet
        case .mix: .mix
        case .rebar3: .rebar3
        case .zig: .zig
        case .dune: .dune
        case .stack: .stack
        case .cabal: .cabal
        case .bazel: .bazel
        case .meson: .meson
        case .cmake: .cmake
        case .composer: .composer
        case .bundler: .bundler
        case .python: .python
        case .lua: .lua
        case .npm: .npm
        case .perl: .perl
        case .autotools: .autotools
        case .make: .make
        case .shell: .shell
        }
    }

    /// The language of the type. Types of one language build the same sources. Zig and Bazel also build C and C++.
    var language: String {
        switch self {
        case .maven, .gradle: "java"
        case .mix, .rebar3: "erlang"
        case .stack, .cabal: "haskell"
        case .cmake, .meson, .autotools, .zig, .bazel, .make: "c"
        default: rawValue
        }
    }

    /// Whether the type often only runs the tests of another type (`make test` runs `go test`), so that it is not a further project beside another.
    var isWrapper: Bool { [.make, .autotools, .shell].contains(self) }
}
