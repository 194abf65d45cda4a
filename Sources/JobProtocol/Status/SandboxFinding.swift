import Glibc

/// The result of testing whether jobs can be sandboxed on this machine. `martlet-supervisor --probe-fence` prints it as one line.
package struct SandboxFinding: Sendable, Equatable {
    /// The mechanism that limits a job's memory and processes.
    package enum Means: String, Sendable, CaseIterable {
        /// Control groups of version 2, in a subtree that belongs to the launcher.
        case cgroup2
        /// Control groups of version 1 as the machine has them, for root.
        case cgroup1
        /// Only limits of processes. The kernel counts the processes within the sandbox; the memory is measured periodically.
        case rlimit
    }

    /// Whether a sandbox could be made.
    package let works: Bool
    /// Why no sandbox could be made, and what to do; `nil` if it works.
    package let reason: String?
    package let limits: Means
    /// Why a step with the network can only use the host's network, and what to do. `nil` if a separate network was made, or no sandbox works.
    package let networkReason: String?
    /// Whether a failure is known to last until the operator fixes its cause. Other failures may pass: the machine may lack processes or memory, or
    /// may be too slow.
    package let isLasting: Bool

    package init(
        works: Bool, reason: String?, limits: Means, networkReason: String? = nil, isLasting: Bool = false
    ) {
        self.works = works
        self.reason = reason
        self.limits = limits
        self.networkReason = networkReason
        self.isLasting = isLasting
    }

    /// The size limit of a finding in bytes.
    package static let sizeLimit = 16 * 1024
    /// The request that asks a launcher for a finding, in the framing of a launch request. A launcher may be allowed to make sandboxes that the
    /// asking process may not make, and jobs use its control groups.
    package static let request = JSON.object(["probe": .string("fence")]).bytes()

    /// Whether every feature of a sandbox works.
    package var isWhole: Bool { works && networkReason == nil }

    /// Encodes the finding as one line, without its newline.
    package func json() -> [UInt8] {
        JSON.object([
            "works": .bool(works), "reason": reason.map(JSON.string) ?? .null, "limits": .string(limits.rawValue),
            "network": networkReason.map(JSON.string) ?? .null, "lasts": .bool(isLasting),
        ]).bytes()
    }

    /// Decodes a finding.
    /// - Throws: `.malformed` or `.overLimit`.
    package init(json bytes: some Collection<UInt8>) throws(JobProtocolError) {
        let value = try JSON(bytes, limit: Self.sizeLimit)
        guard let works = value["works"]?.boolean, let limits = value["limits"]?.text.flatMap(Means.init(rawValue:))
        else {
            throw JobProtocolError(.malformed, "read the output of --probe-fence", "the key works or limits is missing")
        }
        let network = works && value["network"] == nil ? Self.networkUnasked : value["network"]?.text
        self.init(
            works: works, reason: value["reason"]?.text, limits: limits, networkReason: network,
            isLasting: value["lasts"]?.boolean ?? false)
    }
}

extension SandboxFinding {
    /// The reason if the program that gives a sandbox a network is missing.
    package static let userNetworkMissing =
        "slirp4netns is not installed: there is no /usr/bin/slirp4netns; install it with `apt-get install slirp4netns`, and start the "
        + "service again"
    /// The reason if the launcher does not report on the network.
    static let networkUnasked = "the launcher is of an older version; restart it, and the service"

    /// The reason if a supervisor could not see the processes in its sandbox, and so could not end them.
    package static let hiddenProcesses =
        "/proc is mounted with hidepid, which hides the service's own processes from it; mount it without (`mount -o remount,hidepid=0 "
        + "/proc`, for good in /etc/fstab), or with gid= of a group of the service's user"

    /// The reason if the program that makes sandboxes is missing.
    package static let bubblewrapMissing =
        "bubblewrap is not installed: there is no /usr/bin/bwrap; install it with `apt-get install bubblewrap`"

    /// Returns why bubblewrap could not make a sandbox, from its message and the kernel's settings.
    /// - Parameters:
    ///   - complaint: The message of bubblewrap, or else how it ended.
    ///   - setting: Returns a kernel setting without its newline, by its path beneath /proc/sys; `nil` if it does not exist.
    package static func reason(complaint: String, setting: (String) -> String?) -> String {
        if setting("kernel/unprivileged_userns_clone") == "0" {
            return """
                user namespaces are switched off by kernel.unprivileged_userns_clone=0; allow them with \
                `sysctl -w kernel.unprivileged_userns_clone=1`, for good in /etc/sysctl.d/60-martlet.conf
                """
        }
        if setting("user/max_user_namespaces") == "0" {
            return """
                user namespaces are switched off by user.max_user_namespaces=0; allow them with \
                `sysctl -w user.max_user_namespaces=10000`, for good in /etc/sysctl.d/60-martlet.conf
                """
        }
        if setting("kernel/apparmor_restrict_unprivileged_userns") == "1" {
            return """
                AppArmor keeps programs without a profile from user namespaces \
                (kernel.apparmor_restrict_unprivileged_userns=1, the default of Ubuntu since 23.10); give bubblewrap its \
                profile with `apt-get install apparmor-profiles && ln -s /usr/share/apparmor/extra-profiles/bwrap-userns-restrict \
                /etc/apparmor.d/ && systemctl reload apparmor`, or allow all programs with \
                `sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`; bubblewrap said: \(complaint)
                """
        }
        return "bubblewrap cannot make a sandbox here: \(complaint)"
    }

    /// Returns why slirp4netns could not give a sandbox a network, and what to do.
    /// - Parameter complaint: The message of slirp4netns, or else how it ended.
    package static func networkReason(complaint: String) -> String {
        let advice =
            complaint.contains("/dev/net/tun")
            ? "; it needs /dev/net/tun: `modprobe tun`, and reading and writing for all, `chmod 0666 /dev/net/tun`" : ""
        return "slirp4netns gives a sandbox no network here: \(complaint)\(advice)"
    }

    /// Returns why a sandbox gets no network: packets to the machine's loopback could not be blocked.
    /// - Parameter number: The error number.
    package static func destinationsReason(number: Int32) -> String {
        let error = String(cString: strerror(number))
        let why = "a sandbox's network cannot be kept from the machine's loopback here: \(error)"
        guard isDestinationsLasting(number: number) else { return why }
        return
            "\(why); the kernel needs rules of routes, CONFIG_IP_MULTIPLE_TABLES and CONFIG_IPV6_MULTIPLE_TABLES, as those of "
            + "Debian and Ubuntu have"
    }

    /// Whether the error means that the kernel lacks the feature.
    package static func isDestinationsLasting(number: Int32) -> Bool { [EOPNOTSUPP, EAFNOSUPPORT].contains(number) }

    /// Whether a failure lasts: a kernel setting causes it, or bubblewrap lacks a permission or a feature.
    /// - Parameters:
    ///   - complaint: As in `reason(complaint:setting:)`.
    ///   - setting: As in `reason(complaint:setting:)`.
    package static func isLasting(complaint: String, setting: (String) -> String?) -> Bool {
        ["kernel/unprivileged_userns_clone", "user/max_user_namespaces"].contains { setting($0) == "0" }
            || lastingWords.contains { complaint.contains($0) }
    }

    /// Whether a failure of slirp4netns lasts. A missing device does not appear by itself.
    package static func isNetworkLasting(complaint: String) -> Bool {
        complaint.contains("/dev/net/tun") || isLasting(complaint: complaint) { _ in nil }
    }

    /// Phrases from bubblewrap's messages (0.8, bubblewrap.c), and the system's messages for lacking permissions or features. bubblewrap appends the
    /// latter in the words of the C library, because it runs without a locale.
    private static let lastingWords =
        ["No permissions to create", "does not support", "Unknown option"]
        + [EPERM, EACCES, ENOSYS, EINVAL].map { String(cString: strerror($0)) }
}
