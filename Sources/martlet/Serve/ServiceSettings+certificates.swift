import Basics
import Settings

extension ServiceSettings {
    /// Makes every outgoing connection of this process trust the certificates that `certificates` names: git, requests, mail and jobs read them from
    /// the environment.
    /// - Throws: `Failure` if the path cannot be read, or has no certificates.
    func trustCertificates() throws(Failure) {
        guard let certificates else { return }
        do throws(FileError) {
            try CertificateVariables.set(certificates)
        } catch {
            throw Failure(
                .configuration,
                "the settings say `certificates: \(certificates)`, which cannot be used: \(error.message); name a PEM file, or a directory "
                    + "made by c_rehash, that the service's user can read")
        }
    }
}
