/// A kind of project that is recognized by a file. What is usual for it is its `profile`.
///
/// The cases are in the order of precedence, for a root with files of several kinds. The manifest of one language's own tool says more
/// than a build of C, which may be a part of it. Many projects of all kinds have a package.json or a Makefile for their chores.
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

    /// A file of each type by which it is recognized, as messages name them: the name that is most usual.
    package static var usualMarkers: String {
        allCases.compactMap { $0 == .make ? $0.profile.markers.last : $0.profile.markers.first }.joined(separator: ", ")
    }

    /// Commands, reports, caches: the row of this type.
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

    /// Kinds of one language build the same sources. Zig and Bazel build C and C++ beside their own.
    var language: String {
        switch self {
        case .maven, .gradle: "java"
        case .mix, .rebar3: "erlang"
        case .stack, .cabal: "haskell"
        case .cmake, .meson, .autotools, .zig, .bazel, .make: "c"
        default: rawValue
        }
    }

    /// Whether it often is a second door to the tests of another kind (`make test` runs `go test`), so that it is no project beside one.
    var isWrapper: Bool { [.make, .autotools, .shell].contains(self) }
}
