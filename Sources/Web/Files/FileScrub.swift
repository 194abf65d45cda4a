import Basics
import Logging
import Model
import Releases
import ServiceLifecycle
import Storage

/// Reads every published file and its description files once a day, and reports those that differ from what was published. Otherwise damage to rarely
/// downloaded files would stay unnoticed until the backups are damaged too.
struct FileScrub: Service, CustomStringConvertible {
    let description = "check of published files"
    let site: Site

    /// The time from the start to the first check. After that, checks begin at `interval` after the end of the previous one.
    private static let delay = Duration.seconds(60)
    private static let interval = Duration.seconds(86_400)
    /// The pause after each piece of 16 MiB. It limits the check to 32 MB a second, which leaves most of a disk to other readers.
    private static let rest = Duration.milliseconds(500)

    /// The most damaged files of a version that are logged one by one; the log then states how many more there are. This keeps the log small when a
    /// disk has lost a directory.
    static let maximumReported = 100

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var pause = Self.delay
            while true {
                do {
                    try await Task.sleep(for: pause)
                    try await look { try await Task.sleep(for: Self.rest) }
                } catch is CancellationError {
                    return
                } catch {
                    site.logger.error("published files could not be looked at", metadata: ["error": "\(error)"])
                }
                pause = Self.interval
            }
        }
    }

    /// Checks all published versions once.
    /// - Parameter rest: Called after each piece, for a pause.
    func look(rest: @escaping @Sendable () async throws -> Void = {}) async throws {
        for product in try await site.store.products() {
            for record in try await site.store.versions(of: product) where record.state == .published {
                var damaged = 0
                for file in record.files {
                    if try await look(at: file, of: record, rest, isReported: damaged < Self.maximumReported) {
                        damaged += 1
                    }
                    try Task.checkCancellation()
                }
                tellRest(damaged - Self.maximumReported, of: record)
                try await lookAtDescriptions(of: record)
            }
        }
        site.checks.lookedAt = site.clock()
    }

    /// Checks one file of a version.
    /// - Parameter isNotified: Whether damage is logged.
    /// - Returns: Whether the file is damaged.
    private func look(
        at artifact: Artifact, of record: VersionRecord, _ rest: @escaping @Sendable () async throws -> Void,
        isReported: Bool
    ) async throws -> Bool {
        let state = site.configuration.state
        let path = "files/\(record.product)/\(record.version)/\(artifact.path)"
        var trouble: String?
        do {
            let file = try await site.files.run { () throws(FileError) in try RecordedFile(path, beneath: state) }
            if file.status.size != artifact.size.bytes {
                trouble = "it has \(file.status.size) bytes"
            } else if try await !site.checks.read(file, sha256: artifact.sha256, rest: rest) {
                trouble = "its bytes are others"
            }
        } catch let error as FileError {
            trouble = "\(error)"
        } catch let error as OpenFile.ReadError {
            trouble = "it cannot be read (errno \(error.errno))"
        }
        note(trouble, path, ["recorded": "\(artifact.sha256)"], isReported: isReported)
        return trouble != nil
    }

    private func tellRest(_ count: Int, of record: VersionRecord) {
        guard count > 0 else { return }
        site.logger.error(
            "more published files are damaged, and `martlet doctor` lists them",
            metadata: ["version": "\(record.product) \(record.version)", "count": "\(count)"])
    }

    private func lookAtDescriptions(of record: VersionRecord) async throws {
        let place = "files/\(record.product)/\(record.version)"
        let state = site.configuration.state
        // If the directory is missing or cannot be read, the check of each file has already reported it.
        guard let check = try? await site.descriptions.check(of: record, beneath: state, isAnew: true) else { return }
        let damaged = check.damaged
        for name in VersionCheck.descriptions { note(damaged[name].map { "\($0)" }, "\(place)/\(name)", [:]) }
    }

    private func note(_ trouble: String?, _ path: String, _ metadata: Logger.Metadata, isReported: Bool = true) {
        let place = "\(site.configuration.state)/\(path)"
        guard let trouble else { return site.checks.isWell(place) }
        site.checks.isDamaged(place, at: site.clock())
        guard isReported else { return }
        site.logger.error(
            "a published file is damaged",
            metadata: ["path": "\(place)", "found": "\(trouble)"].merging(metadata) { first, _ in first })
    }
}
