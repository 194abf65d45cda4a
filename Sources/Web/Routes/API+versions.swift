import API
import Encodings
import Integrations
import Model
import Releases
import Storage
import Transfer

extension API.Artifact {
    /// - Parameter url: The file's URL.
    init(_ artifact: Model.Artifact, url: String) {
        self.init(
            configuration: artifact.configuration?.description, path: artifact.path, size: artifact.size.bytes,
            sha256: artifact.sha256, url: url)
    }
}

extension API.TriggerRun {
    /// - Parameter upload: The progress of an upload that is running.
    init(_ trigger: TriggerRecord, upload: UploadProgress? = nil) {
        self.init(
            name: trigger.trigger.description, attempt: trigger.attempt, run: trigger.run,
            phase: trigger.phase.rawValue, state: trigger.state.rawValue, reason: trigger.reason,
            started: API.Time(trigger.startedAt), ended: API.Time(trigger.endedAt),
            duration: API.Time.seconds(from: trigger.startedAt, to: trigger.endedAt), upload: upload.map { Upload($0) })
    }
}

extension API.TriggerRun.Upload {
    init(_ upload: UploadProgress) {
        self.init(
            phase: upload.phase.rawValue, file: upload.file, number: upload.number, count: upload.count,
            bytes: upload.bytes, size: upload.size, attempt: upload.attempt, interruption: upload.interruption,
            text: upload.sentence)
    }
}

extension API.Version {
    /// - Parameters:
    ///   - root: The service's URL.
    ///   - downloads: The download counts of the product's files.
    init(_ version: VersionRecord, root: String, downloads: Downloads.Counts) {
        let place = "\(root)/files/\(version.product)/\(PercentEncoding.encode(version.version.description))/"
        self.init(
            version: version.version.description, id: "\(version.product) \(version.version)",
            url: "\(root)/products/\(version.product)/\(PercentEncoding.encode(version.version.description))",
            product: version.product.description,
            published: API.Time(version.publishedAt), commit: version.commit.description,
            ref: version.ref.description, integration: version.integration.description,
            files: version.files.map { file in
                File(
                    configuration: file.configuration?.description, path: file.path, size: file.size.bytes,
                    sha256: file.sha256, url: place + PercentEncoding.encode(path: file.path),
                    downloads: downloads.of(file.path, in: version))
            }, downloads: downloads.of(version), yanked: version.isYanked, registry: version.registry?.description)
    }
}
