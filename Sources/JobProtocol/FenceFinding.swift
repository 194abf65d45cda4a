import Glibc

/// Whether jobs can be fenced on this machine, as `martlet-supervisor --probe-fence` prints it on one line.
package struct FenceFinding: Sendable, Equatable {
    /// What holds a job's memory and processes.
    package enum Means: String, Sendable, CaseIterable {
        /// Control groups of version 2, in a subtree that is the launcher's.
        case cgroup2
        /// Control groups of version 1: as the machine has them, for root.
        case cgroup1
        /// The limits of processes alone: their number, counted by the kernel within the fence; memory, counted now and then.
        case rlimit
    }

    /// Whether a fence was made.
    package let works: Bool
    /// Why not, and what to do; nothing when it works.
    package let reason: String?
    package let limits: Means
    /// Why a step with the network can only have the host's own, and what to do; nothing where one of its own was made, or no fence.
    package let networkReason: String?
    /// Whether it is known, of whichever does not work, that it will not work another time either, until somebody mends it.
    /// What is not known may pass: a machine that has no process or no memory to spare, or was too slow.
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

    /// The most bytes of a finding.
    package static let sizeLimit = 16 * 1024
    /// What asks a launcher for one, in a launch request's framing: it may make fences where who asks may not, and its
    /// control groups are the jobs'.
    package static let request = JSON.object(["probe": .string("fence")]).bytes()

    /// Whether nothing is missing of what a fence can have.
    package var isWhole: Bool { works && networkReason == nil }

    /// The line, without its newline.
    package func json() -> [UInt8] {
        JSON.object([
            "works": .bool(works), "reason": reason.map(JSON.string) ?? .null, "limits": .string(limits.rawValue),
            "network": networkReason.map(JSON.string) ?? .null, "lasts": .bool(isLasting),
        ]).bytes()
    }

    /// - Throws: `.malformed` or `.overLimit`.
    package init(json bytes: some Collection<UInt8>) throws(JobProtocolError) {
        let value = try JSON(bytes, limit: Self.sizeLimit)
        guard let works = value["works"]?.boolean, let limits = value["limits"]?.text.flatMap(Means.init(rawValue:))
        else { throw JobProtocolError(.malformed, "read what --probe-fence says", "works or limits is not there") }
        let network = works && value["network"] == nil ? Self.networkUnasked : value["network"]?.text
        self.init(
            works: works, reason: value["reason"]?.text, limits: limits, networkReason: network,
            isLasting: value["lasts"]?.boolean ?? false)
    }
}

extension FenceFinding {
    /// The reason where there is no program that gives a fence a network.
    package static let userNetworkMissing =
        "slirp4netns is not installed: there is no /usr/bin/slirp4netns; install it with `apt-get install slirp4netns`, and start the "
        + "service again"
    /// Of a launcher that says nothing of the network.
    static let networkUnasked = "the launcher is of an older version; restart it, and the service"

    /// The reason where a supervisor could not see, and so not end, what runs in its fence.
    package static let hiddenProcesses =
        "/proc is mounted with hidepid, which hides the service's own processes from it; mount it without (`mount -o remount,hidepid=0 "
        + "/proc`, for good in /etc/fstab), or with gid= of a group of the service's user"

    /// The reason where there is no program to make fences with.
    package static let bubblewrapMissing =
        "bubblewrap is not installed: there is no /usr/bin/bwrap; install it with `apt-get install bubblewrap`"

    /// Why bubblewrap could not make a fence, told from what it said and from the kernel's settings.
    /// - Parameters:
    ///   - complaint: What bubblewrap said, or else how it ended.
    ///   - setting: A kernel setting by its path beneath /proc/sys, without its newline; nothing where there is none.
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
        return "bubblewrap cannot make a fence here: \(complaint)"
    }

    /// Why slirp4netns could not give a fence a network, and what to do.
    /// - Parameter complaint: What it said, or else how it ended.
    package static func networkReason(complaint: String) -> String {
        let advice =
            complaint.contains("/dev/net/tun")
            ? "; it needs /dev/net/tun: `modprobe tun`, and reading and writing for all, `chmod 0666 /dev/net/tun`" : ""
        return "slirp4netns gives a fence no network here: \(complaint)\(advice)"
    }

    /// Why packets to the machine's loopback could not be kept from leaving a fence's network, so that it has none.
    /// - Parameter number: The error's.
    package static func destinationsReason(number: Int32) -> String {
        let error = String(cString: strerror(number))
        let why = "a fence's network cannot be kept from the machine's loopback here: \(error)"
        guard isDestinationsLasting(number: number) else { return why }
        return
            "\(why); the kernel needs rules of routes, CONFIG_IP_MULTIPLE_TABLES and CONFIG_IPV6_MULTIPLE_TABLES, as those of "
            + "Debian and Ubuntu have"
    }

    /// Whether the kernel knows no such thing.
    package static func isDestinationsLasting(number: Int32) -> Bool { [EOPNOTSUPP, EAFNOSUPPORT].contains(number) }

    /// Whether that stays so: a setting of the kernel's says it, or bubblewrap may not do something or knows no such thing.
    /// - Parameters:
    ///   - complaint: As of `reason(complaint:setting:)`.
    ///   - setting: Likewise.
    package static func isLasting(complaint: String, setting: (String) -> String?) -> Bool {
        ["kernel/unprivileged_userns_clone", "user/max_user_namespaces"].contains { setting($0) == "0" }
            || lastingWords.contains { complaint.contains($0) }
    }

    /// The same of what slirp4netns said: a device that is not there does not come by itself.
    package static func isNetworkLasting(complaint: String) -> Bool {
        complaint.contains("/dev/net/tun") || isLasting(complaint: complaint) { _ in nil }
    }

    /// Of bubblewrap's sentences (0.8, bubblewrap.c); and what the system says of what may not be, or is not there, which
    /// bubblewrap appends and, without a locale in its environment, says as the C library here does.
    private static let lastingWords =
        ["No permissions to create", "does not support", "Unknown option"]
        + [EPERM, EACCES, ENOSYS, EINVAL].map { String(cString: strerror($0)) }
}
