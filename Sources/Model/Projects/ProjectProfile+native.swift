extension ProjectProfile {
    /// `JobCommands` makes its steps: they depend on what the manifest and the sources say.
    static let swiftPackage = ProjectProfile(
        title: "Swift package", markers: ["Package.swift"])

    /// `JobCommands` makes its steps: which target tests depends on the Makefile's text. GNU make's order of names.
    static let make = ProjectProfile(
        title: "Make project", markers: ["GNUmakefile", "makefile", "Makefile"], packages: ["make": "make"])
}
