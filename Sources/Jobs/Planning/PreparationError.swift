import Basics
import Issues
package import Model
import Storage

/// The reason why a job cannot be prepared although the repository could be read. It is due to what the recipe asks for.
package enum PreparationError: Error, CustomStringConvertible {
    case nothingToDo(configuration: Name)
    case secretRefused(step: String, secret: String, reason: String)
    case imageWithoutSandbox(Name, reason: String)
    case imagesUnset(Name)
    case imageUnknown(Name, images: String, known: [String], reason: String?)
    case toolchainUnseen(String)
    /// The recipe names an executor that the settings do not have.
    case executorUnknown(Name, configuration: Name, known: [Name])
    /// A job with secrets was given to a cluster, and the service's URL is neither encrypted nor of this machine.
    case secretsNeedTLS(Name, [String], url: String)
    /// No executor has the processors, the memory or the features that the recipe needs.
    case noExecutorFits(configuration: Name, reasons: [String])

    package var description: String {
        switch self {
        case .nothingToDo(let configuration):
            """
            the configuration \(configuration) has nothing to do: no file in the root identifies a project type \
            (docs/guide/projects.md) and the recipe states neither build nor test; write them into .martlet.yml
            """
        case .secretRefused(let step, let secret, let reason):
            "\(step) asks for the secret \(secret), which it does not get: \(reason)"
        case .imageWithoutSandbox(let image, let reason):
            """
            the recipe names the image \(image), and an image needs the sandbox, in which jobs do not run here: \(reason); \
            `martlet doctor` says what to do
            """
        case .imagesUnset(let image):
            """
            the recipe names the image \(image), and the settings name no directory of images; the machine's owner adds \
            `images: /srv/martlet/images`
            """
        case .imageUnknown(let image, let images, let known, let reason):
            reason.map { "the recipe names the image \(image), and \(images) cannot be read: \($0)" }
                ?? "there is no image \(image) in \(images); there is "
                + (known.isEmpty ? "none" : known.joined(separator: ", "))
        case .executorUnknown(let name, let configuration, let known):
            """
            the configuration \(configuration) needs the executor \(name), which the settings do not have; there is \
            \(known.map(\.description).joined(separator: ", "))
            """
        case .secretsNeedTLS(let executor, let secrets, let url):
            """
            the job's steps ask for secrets (\(secrets.joined(separator: ", "))), which the nodes of the executor \(executor) fetch \
            from the service's URL, and \(url.isEmpty ? "it has none" : "\(url) is not encrypted"); the machine's owner \
            sets `url` to an https address, or write `needs: { executor: local }` for this configuration
            """
        case .noExecutorFits(let configuration, let reasons):
            "no executor has what the configuration \(configuration) needs: \(reasons.joined(separator: "; "))"
        case .toolchainUnseen(let toolchain):
            """
            the recipe names the toolchain \(toolchain), which jobs do not see inside the sandbox; the machine's owner adds \
            it to `sandbox: { read-only: [\(toolchain)] }` of the settings
            """
        }
    }
}

extension AttemptResults {
    /// Adds the reason why a job was not started. It is an error of the recipe, like those that are found before any job.
    mutating func addPreparationError(_ reason: String) {
        let finding = Finding(category: .error, message: reason, rule: Finding.Rule.preparation)
        let keys = Fingerprinter.keys(of: finding, lineText: nil, occurrence: 0)
        findings.append(
            StoredFinding(
                fingerprint: Digest.sha256(of: Array(keys.place.utf8)),
                content: Digest.sha256(of: Array(keys.content.utf8)), finding: finding, step: nil))
        counts.add(finding)
    }
}
