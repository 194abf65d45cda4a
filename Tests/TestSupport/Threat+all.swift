extension Threat {
    /// The rows of threats that are not of one job alone. The rows of what one job may try are beside the programs that try it.
    package static let all = [
        Threat("S1", "a job prints its secrets in every form", .denied),
        Threat("S2", "a secret in any output of the service", .denied),
        Threat("S3", "the state directory is stolen", .denied),
        Threat("S4", "others may read the state directory", .denied),
        Threat("K1", "kill -9 at each change of state", .contained),
        Threat("K5", "signals while something runs", .contained),
        Threat("PW5", "two daemons on one state directory", .denied),
        Threat("D1", "the disk is full", .contained),
        Threat("D2", "no inodes, or a disk that is read-only", .contained),
        Threat("D3", "no descriptors", .contained),
        Threat("L2", "a thousand readers of one log, who do not read", .contained),
        Threat("W11", "a hundred large bodies with made-up signatures", .contained),
        Threat("W18", "thousands of connections that send a byte now and then", .contained),
        Threat("D4", "no memory", .contained),
        Threat("G5", "a tree or a job that leads out of the workspace", .denied),
        Threat("G6", "submodules that lead elsewhere", .denied),
        Threat("G7", "a repository in the repository", .denied),
        Threat("G8", "a fork that poisons the mirror", .denied),
        Threat("U4", "a fork's job writes what a trusted one reads", .denied),
        Threat("G1", "addresses that are commands, options or files", .denied),
        Threat("G2", "addresses that only this machine reaches", .denied),
        Threat("G3", "a server that leads elsewhere", .denied),
        Threat("G4", "trees with the names of git's own files", .denied),
        Threat("G9", "a server that cannot show who it is", .denied),
        Threat("G10", "a server's words with controls of terminals", .contained),
        Threat("G11", "packs without end or measure", .contained),
        Threat("G12", "names of refs that are searches", .denied),
        Threat("N1", "a git server that is silent", .contained),
        Threat("N2", "a git server with wrong answers", .contained),
        Threat("N3", "a branch that moves while it is checked out", .contained),
        Threat("N4", "a repository that is gone", .contained),
        Threat("N5", "a hundred thousand refs", .contained),
        Threat("X1", "text that would be HTML", .denied),
        Threat("X2", "text that would be a link", .denied),
        Threat("PW2", "a damaged database", .contained),
        Threat("PW4", "a database of another version", .contained),
        Threat("G15", "names of branches that a shell would run", .denied),
        Threat("P1", "a report that attacks its parser", .contained),
        Threat("P2", "reports in every dialect, whole and broken", .contained),
        Threat("P3", "SARIF that is cut, old or empty", .contained),
        Threat("P4", "a report that names files outside the repository", .denied),
        Threat("P5", "an archive that leads out of its directory", .denied),
        Threat("P6", "lines and logs that make matchers slow", .contained),
        Threat("P7", "bombs in recipes", .denied),
        Threat("P8", "bytes that are no text", .contained),
    ]

    /// Rows of the list that are not tried, each with the reason. They are printed beside the others.
    package static let untried = [
        "D2.quota":
            "no quota can be set on the disks here; a write beyond one fails as a full disk's does (EDQUOT beside ENOSPC)",
        "K5.reboot":
            "a machine cannot be restarted in a test; a job after a loss of power is tried by its directory's state",
    ]
}
