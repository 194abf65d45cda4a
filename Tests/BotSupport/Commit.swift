package import Model

/// The contents of a commit of the fixture's repository, which decide what its integration does.
///
/// Its steps run the script `play`, which follows the files below `plays/CONFIGURATION/`. It prints `STEP.out`, copies `STEP.xml` to the report,
/// runs `STEP.sh`, and exits with `STEP.exit`. `ScriptedExecutor` reads the same files, so that one commit serves both executors. The plays of the
/// commit before are removed.
package struct Commit: Sendable {
    /// Texts by path. A script (`#!`) is executable.
    package var files: [String: String]
    package var message: String

    package init(files: [String: String] = [:], message: String = "Change") {
        self.files = files
        self.message = message
    }

    /// Every step succeeds, with the two passing tests of `passing.xml`.
    package static var succeeding: Commit { Commit() }

    /// A step of one configuration exits with 1. The testing step also has a report of one failing test.
    package static func failing(_ configuration: String, at step: JobStep = .testing) -> Commit {
        var commit = Commit.playing(step, of: configuration, output: "\(step.rawValue) says no\n", exit: 1)
        if step == .testing { commit.files["plays/\(configuration)/testing.xml"] = Reports.failing }
        commit.message = "Fail \(step.rawValue) of \(configuration)"
        return commit
    }

    /// A step of one configuration prints a text and exits with a status.
    package static func playing(
        _ step: JobStep, of configuration: String, output: String = "", exit: Int = 0, report: String? = nil
    ) -> Commit {
        var commit = Commit()
        let path = "plays/\(configuration)/\(step.rawValue)"
        if !output.isEmpty { commit.files[path + ".out"] = output }
        if exit != 0 { commit.files[path + ".exit"] = "\(exit)\n" }
        if let report { commit.files[path + ".xml"] = report }
        return commit
    }

    /// A step of one configuration runs a script, with a real executor only.
    package static func running(_ step: JobStep, of configuration: String, script: String) -> Commit {
        Commit(files: ["plays/\(configuration)/\(step.rawValue).sh": script])
    }

    /// Returns a commit with the files of both.
    package func and(_ other: Commit) -> Commit {
        Commit(files: files.merging(other.files) { $1 }, message: message)
    }

    /// Reports in JUnit's format.
    package enum Reports {
        package static let passing = """
            <testsuite name="KitTests"><testcase classname="KitTests" name="adds" time="0.01"/>
            <testcase classname="KitTests" name="subtracts" time="0.01"/></testsuite>

            """
        package static let failing = """
            <testsuite name="KitTests"><testcase classname="KitTests" name="adds" time="0.01"/>
            <testcase classname="KitTests" name="subtracts" time="0.01"><failure message="2 is not 3"/></testcase></testsuite>

            """
        package static let empty = "<testsuite name=\"KitTests\"></testsuite>\n"
    }

    /// Returns the files that every commit of the fixture has.
    static func base(recipe: String) -> [String: String] {
        [
            ".martlet.yml": recipe, "play": script, "passing.xml": Reports.passing,
            "products/tool": "#!/bin/sh\necho kit\n",
            ".gitignore": "build/\n",
        ]
    }

    private static let script = """
        #!/bin/sh
        # Does what the commit says of the step $1.
        play=plays/$MARTLET_CONFIGURATION/$1
        mkdir -p build
        if [ "$1" = testing ]; then
            if [ -f "$play.xml" ]; then cp "$play.xml" build/junit.xml; else cp passing.xml build/junit.xml; fi
        fi
        if [ -f "$play.out" ]; then cat "$play.out"; fi
        if [ -f "$play.sh" ]; then . "./$play.sh"; fi
        if [ -f "$play.exit" ]; then exit "$(cat "$play.exit")"; fi

        """
}
