extension JobDescription {
    /// Decodes a job strictly: a missing value, or one of another type or out of range, is an error. Unknown keys are ignored, so that an older
    /// supervisor can run the job of a newer daemon.
    /// - Throws: `.malformed`, `.overLimit`, or `.refused` for an unknown isolation or network.
    package init(json bytes: [UInt8]) throws(JobProtocolError) {
        let object = JobObject(try JSON(bytes, limit: Self.sizeLimit), "job.json")
        var steps: [Step] = []
        for (index, element) in try object.array("steps").enumerated() {
            steps.append(try Step(JobObject(element, "job.json, step \(index)")))
        }
        var collect: [Collect] = []
        for element in try object.array("collect") {
            let item = JobObject(element, "job.json, collect")
            collect.append(Collect(patterns: try item.strings("patterns"), base: try item.text("base")))
        }
        guard 1...Self.stepLimit ~= steps.count else { throw object.malformed("needs 1 to \(Self.stepLimit) steps") }
        let isolation: Isolation = try object.word("isolation")
        guard object.has("fence") == (isolation == .sandbox) else {
            throw object.malformed(
                "isolation \(isolation.rawValue) \(isolation == .none ? "has no" : "needs a") sandbox")
        }
        self.init(
            steps: steps, environment: try object.dictionary("environment"), workspace: try object.text("workspace"),
            mountedAt: isolation == .none ? try object.text("mountedAt") : try object.path("mountedAt"),
            secrets: try object.strings("secrets"), isolation: isolation,
            sandbox: isolation == .sandbox ? try Sandbox(try object.object("fence")) : nil,
            limits: try Limits(try object.object("limits")), collect: collect)
        guard workspace.hasPrefix("/") else { throw object.malformed("workspace must be absolute") }
    }

    /// Encodes the content of `job.json`. It contains the names of secrets, never their values.
    package func json() -> [UInt8] {
        var members: [String: JSON] = [
            "steps": .array(steps.map(\.json)),
            "environment": .object(environment.mapValues(JSON.string)),
            "workspace": .string(workspace),
            "mountedAt": .string(mountedAt),
            "secrets": .array(secrets.map(JSON.string)),
            "isolation": .string(isolation.rawValue),
            "limits": limits.json,
            "collect": .array(
                collect.map { item in
                    .object(["patterns": .array(item.patterns.map(JSON.string)), "base": .string(item.base)])
                }),
        ]
        members["fence"] = sandbox?.json
        return JSON.object(members).bytes()
    }
}

extension JobDescription.Step {
    fileprivate init(_ object: JobObject) throws(JobProtocolError) {
        self.init(
            step: try object.text("step"), name: try object.text("name"), arguments: try object.strings("arguments"),
            environment: try object.dictionary("environment"), workingDirectory: try object.text("workingDirectory"),
            timeoutMilliseconds: try object.size("timeoutMilliseconds"), report: try object.strings("report"),
            isRequired: try object.boolean("isRequired"), secrets: try object.strings("secrets"),
            network: try object.word("network"))
        guard let command = arguments.first, !command.isEmpty else {
            throw object.malformed("arguments must not be empty")
        }
    }

    fileprivate var json: JSON {
        .object([
            "step": .string(step), "name": .string(name), "arguments": .array(arguments.map(JSON.string)),
            "environment": .object(environment.mapValues(JSON.string)), "workingDirectory": .string(workingDirectory),
            "timeoutMilliseconds": .integer(timeoutMilliseconds), "report": .array(report.map(JSON.string)),
            "isRequired": .bool(isRequired), "secrets": .array(secrets.map(JSON.string)),
            "network": .string(network.rawValue),
        ])
    }
}

extension JobDescription.Limits {
    fileprivate init(_ object: JobObject) throws(JobProtocolError) {
        self.init(
            logBytes: try object.size("logBytes"), fileBytes: try object.size("fileBytes"),
            files: Int(try object.size("files")), reportBytes: try object.size("reportBytes"),
            graceMilliseconds: try object.size("graceMilliseconds"),
            memoryBytes: object.has("memoryBytes") ? try object.size("memoryBytes", from: 1 << 20) : nil,
            processes: Int(try object.size("processes", from: 1)),
            cpuWeight: object.has("cpuWeight") ? Int(try object.size("cpuWeight", from: 1)) : nil,
            workspaceBytes: try object.size("workspaceBytes", from: 1),
            workspaceFiles: Int(try object.size("workspaceFiles", from: 1)))
        guard cpuWeight ?? 1 <= 10_000 else { throw object.malformed("cpuWeight must be at most 10000") }
    }

    fileprivate var json: JSON {
        var members: [String: JSON] = [
            "logBytes": .integer(logBytes), "fileBytes": .integer(fileBytes), "files": .integer(Int64(files)),
            "reportBytes": .integer(reportBytes), "graceMilliseconds": .integer(graceMilliseconds),
            "processes": .integer(Int64(processes)), "workspaceBytes": .integer(workspaceBytes),
            "workspaceFiles": .integer(Int64(workspaceFiles)),
        ]
        members["memoryBytes"] = memoryBytes.map(JSON.integer)
        members["cpuWeight"] = cpuWeight.map { .integer(Int64($0)) }
        return .object(members)
    }
}

extension JobDescription.Sandbox {
    fileprivate init(_ object: JobObject) throws(JobProtocolError) {
        self.init(
            root: object.has("root") ? try object.path("root") : nil, readOnly: try object.paths("readOnly"),
            home: try object.path("home"),
            homeDirectory: object.has("homeDirectory") ? try object.path("homeDirectory") : nil,
            temporaryBytes: try object.size("temporaryBytes", from: 1),
            homeBytes: try object.size("homeBytes", from: 1),
            sharesNetwork: object.has("sharesNetwork") ? try object.boolean("sharesNetwork") : true)
        guard readOnly.count <= Self.pathLimit else {
            throw object.malformed("readOnly has over \(Self.pathLimit) paths")
        }
    }

    fileprivate var json: JSON {
        var members: [String: JSON] = [
            "readOnly": .array(readOnly.map(JSON.string)), "home": .string(home),
            "temporaryBytes": .integer(temporaryBytes), "homeBytes": .integer(homeBytes),
            "sharesNetwork": .bool(sharesNetwork),
        ]
        members["root"] = root.map(JSON.string)
        members["homeDirectory"] = homeDirectory.map(JSON.string)
        return .object(members)
    }
}
