/// The files in which package managers write down which packages a build takes in, and what they pin.
package enum LockFile {
    /// Of a file with more bytes the pins are not read. The largest that we know of (a `package-lock.json` of some thousand
    /// packages) have about 2 MiB.
    package static let maximumBytes = 8 << 20
    /// Of one file at most so many pins are read; those that follow are counted.
    package static let maximumPins = 5000

    /// What a lock file pins.
    package struct Pins: Hashable, Sendable {
        /// Each once, in the order of the file; JSON's in the order of their names.
        package var packages: [LockedPackage] = []
        /// How many more there are.
        package var dropped = 0
        /// Why it may pin more than `packages` says: what could not be read, in a sentence.
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

    /// What such files are called.
    package static var names: Set<String> { Set(readers.keys) }

    /// What a file pins with a digest; empty for a file of any other name. Needs time linear in its size.
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

/// Pins as they are found: each once, and no more than are allowed.
struct PinList {
    var pins = LockFile.Pins()
    private var known: Set<LockedPackage> = []

    mutating func add(_ package: LockedPackage?) {
        guard let package, !known.contains(package) else { return }
        // From here on one that is there twice counts twice: what is known is bounded, too.
        guard pins.packages.count < LockFile.maximumPins else { return pins.dropped += 1 }
        known.insert(package)
        pins.packages.append(package)
    }
}
