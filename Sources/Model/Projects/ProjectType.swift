/// A kind of project that is recognised by a file in its root. What is usual for it is its `profile`.
///
/// In the order of precedence, for a root with files of several: the manifest of one language's own tool says more than a
/// build of C, which may be a part of it; and many projects of all kinds have a package.json or a Makefile for their chores.
package enum ProjectType: String, Sendable, Codable, CaseIterable {
    case swiftPackage = "swift-package"
    case cargo
    case go
    case maven
    case cmake
    case python
    case npm
    case make

    /// A file of each type by which it is recognised, as messages name them: the name that is most usual.
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
        case .cmake: .cmake
        case .python: .python
        case .npm: .npm
        case .make: .make
        }
    }

    /// Which type a root is, and why.
    package struct Recognition: Hashable, Sendable, Codable {
        package var type: ProjectType
        /// The file that tells it.
        package var marker: String
        /// Files of types that come later.
        package var passedOver: [String]

        package init(type: ProjectType, marker: String, passedOver: [String] = []) {
            self.type = type
            self.marker = marker
            self.passedOver = passedOver
        }

        /// `Cargo project, by Cargo.toml (before Makefile)`.
        package var sentence: String {
            let others = passedOver.isEmpty ? "" : " (before \(passedOver.joined(separator: ", ")))"
            return "\(type.profile.title), by \(marker)\(others)"
        }
    }

    /// The first type that one of the root's file names tells; nothing when none does.
    package static func recognise(rootEntries: some Collection<String>) -> Recognition? {
        let names = Set(rootEntries)
        let found = allCases.compactMap { type in
            type.profile.markers.first(where: names.contains).map { (type: type, marker: $0) }
        }
        return found.first.map {
            Recognition(type: $0.type, marker: $0.marker, passedOver: found.dropFirst().map(\.marker))
        }
    }
}
