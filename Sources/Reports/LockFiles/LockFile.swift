import Encodings

/// The lock files in which package managers record the packages that a build uses, and the packages that they pin.
package enum LockFile {
    /// The most bytes of a file whose pins are read. The largest known ones (a `package-lock.json` of some thousand packages) have about 2 MiB.
    package static let maximumBytes = 8 << 20
    /// The most pins of one file that are read; further ones are counted.
    package static let maximumPins = 5000

    /// The packages that a lock file pins.
    package struct Pins: Hashable, Sendable {
        /// The packages, each once, in the order of the file. Those of a JSON file are ordered by name.
        package var packages: [LockedPackage] = []
        /// The number of further pins.
        package var dropped = 0
        /// Why the file may pin more packages: a sentence that states what could not be read. `nil` if everything was read.
        package var problem: String?

        package init(problem: String? = nil) { self.problem = problem }
    }

    private static let readers: [String: @Sendable ([UInt8], inout PinList) throws(JSON.Failure) -> Void] = [
        "Package.resolved": SwiftLock.read,
        "package-lock.json": NPMLock.read, "npm-shrinkwrap.json": NPMLock.read,
        "yarn.lock": YarnLock.read, "pnpm-lock.yaml": PNPMLock.read,
        "Cargo.lock": CargoLock.read,
        "go.sum": GoSum.read,
        "poetry.lock": PythonLock.read, "uv.lock": PythonLock.read, "Pipfile.lock": PipfileLock.read,
        "requirements.txt": RequirementsFile.read,
        "Gemfile.lock": GemfileLock.read,
        "composer.lock": ComposerLock.read,
    ]

    /// The names of lock files.
    package static var names: Set<String> { Set(readers.keys) }

    /// Returns the packages that a file pins with a digest; empty for a file of any other name. The time is linear in the file's size.
    package static func pins(in bytes: [UInt8], called name: String) -> Pins {
        guard let read = readers[name] else { return Pins() }
        var list = PinList()
        do throws(JSON.Failure) {
            try read(bytes, &list)
        } catch {
            list.pins.problem = error.text
        }
        return list.pins
    }
}

/// A collector of pins, each once, up to the limit.
struct PinList {
    var pins = LockFile.Pins()
    private var known: Set<LockedPackage> = []

    mutating func add(_ package: LockedPackage?) {
        guard let package, !known.contains(package) else { return }
        // From here on a repeated pin is counted again, since the set of known pins is limited, too.
        guard pins.packages.count < LockFile.maximumPins else { return pins.dropped += 1 }
        known.insert(package)
        pins.packages.append(package)
    }
}
