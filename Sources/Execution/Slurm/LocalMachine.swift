import Basics
import Glibc
package import Model

/// What this machine offers to jobs.
package enum LocalMachine {
    /// Returns its processors, its memory and its features: the architecture (`x86_64`, `arm64`), the distribution with and without its version
    /// (`debian`, `debian-12`; os-release(5)), and Swift's version (`swift-6.3`).
    /// - Parameter swift: The version of Swift, such as `6.3.1`; `nil` if there is none.
    package static func offer(swift: String?) async -> MachineOffer {
        let release = await SerialQueue(label: "machine").run {
            (try? WholeFile.read("/etc/os-release", limit: 64 << 10)).map { String(decoding: $0, as: UTF8.self) } ?? ""
        }
        var features = distribution(in: release)
        #if arch(arm64)
            features.formUnion(["arm64", "aarch64"])
        #elseif arch(x86_64)
            features.formUnion(["x86_64", "amd64"])
        #endif
        if let swift {
            let parts = swift.split(separator: ".")
            for count in 1...3 where parts.count >= count {
                features.insert("swift-" + parts.prefix(count).joined(separator: "."))
            }
        }
        let pages = Int64(sysconf(Int32(_SC_PHYS_PAGES)))
        let size = Int64(sysconf(Int32(_SC_PAGESIZE)))
        return MachineOffer(
            cpus: max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))), memory: ByteCount(max(0, pages) * max(0, size)),
            features: features)
    }

    /// Returns the distribution's name with and without its version.
    static func distribution(in release: String) -> Set<String> {
        func value(_ key: String) -> String? {
            for line in release.split(separator: "\n") where line.hasPrefix(key + "=") {
                return line.dropFirst(key.count + 1).filter { $0 != "\"" && $0 != "'" }
            }
            return nil
        }
        guard let id = value("ID"), !id.isEmpty else { return [] }
        guard let version = value("VERSION_ID"), !version.isEmpty else { return [id] }
        return [id, "\(id)-\(version)"]
    }
}
