extension JobDescription {
    /// Reads a job strictly: what is missing, of another type or out of range is an error; unknown keys are passed over,
    /// so that an older supervisor can run a newer daemon's job.
    /// - Throws: `.malformed` or `.overLimit`.
    package init(json bytes: [UInt8]) throws(JobProtocolError) {
        let object = JobObject(try JSON(bytes, limit: Self.sizeLimit), "job.json")
        let limits = try object.object("limits")
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
        self.init(
            steps: steps, environment: try object.dictionary("environment"), workspace: try object.text("workspace"),
            mountedAt: try object.text("mountedAt"), secrets: try object.strings("secrets"),
            isolation: try object.text("isolation"),
            limits: Limits(
                logBytes: try limits.size("logBytes"), fileBytes: try limits.size("fileBytes"),
                files: Int(try limits.size("files")), reportBytes: try limits.size("reportBytes"),
                graceMilliseconds: try limits.size("graceMilliseconds")),
            collect: collect)
        guard workspace.hasPrefix("/") else { throw object.malformed("workspace must be absolute") }
    }

    /// The content of `job.json`: names of secrets, never values.
    package func json() -> [UInt8] {
        JSON.object([
            "steps": .array(steps.map(\.json)),
            "environment": .object(environment.mapValues(JSON.string)),
            "workspace": .string(workspace),
            "mountedAt": .string(mountedAt),
            "secrets": .array(secrets.map(JSON.string)),
            "isolation": .string(isolation),
            "limits": .object([
                "logBytes": .integer(limits.logBytes), "fileBytes": .integer(limits.fileBytes),
                "files": .integer(Int64(limits.files)), "reportBytes": .integer(limits.reportBytes),
                "graceMilliseconds": .integer(limits.graceMilliseconds),
            ]),
            "collect": .array(
                collect.map { item in
                    .object(["patterns": .array(item.patterns.map(JSON.string)), "base": .string(item.base)])
                }),
        ]).bytes()
    }
}

extension JobDescription.Step {
    fileprivate init(_ object: JobObject) throws(JobProtocolError) {
        self.init(
            step: try object.text("step"), name: try object.text("name"), arguments: try object.strings("arguments"),
            environment: try object.dictionary("environment"), workingDirectory: try object.text("workingDirectory"),
            timeoutMilliseconds: try object.size("timeoutMilliseconds"), report: try object.strings("report"),
            isRequired: try object.boolean("isRequired"), secrets: try object.strings("secrets"),
            network: try object.text("network"))
        guard let command = arguments.first, !command.isEmpty else {
            throw object.malformed("arguments must not be empty")
        }
    }

    fileprivate var json: JSON {
        .object([
            "step": .string(step), "name": .string(name), "arguments": .array(arguments.map(JSON.string)),
            "environment": .object(environment.mapValues(JSON.string)), "workingDirectory": .string(workingDirectory),
            "timeoutMilliseconds": .integer(timeoutMilliseconds), "report": .array(report.map(JSON.string)),
            "isRequired": .bool(isRequired), "secrets": .array(secrets.map(JSON.string)), "network": .string(network),
        ])
    }
}

/// A JSON object whose members must be there and of the right type. No text may hold a NUL: it would end early in C.
private struct JobObject {
    let value: JSON
    let place: String

    init(_ value: JSON, _ place: String) {
        self.value = value
        self.place = place
    }

    func malformed(_ what: String) -> JobProtocolError { JobProtocolError(.malformed, "read \(place)", what) }

    func text(_ key: String) throws(JobProtocolError) -> String {
        guard let text = value[key]?.text, !text.utf8.contains(0) else { throw malformed("\(key) must be a text") }
        return text
    }

    func boolean(_ key: String) throws(JobProtocolError) -> Bool {
        guard let value = value[key]?.boolean else { throw malformed("\(key) must be true or false") }
        return value
    }

    func size(_ key: String) throws(JobProtocolError) -> Int64 {
        guard let size = value[key]?.integer, size >= 0 else { throw malformed("\(key) must be a number ≥ 0") }
        return size
    }

    func array(_ key: String) throws(JobProtocolError) -> [JSON] {
        guard let elements = value[key]?.elements else { throw malformed("\(key) must be a list") }
        return elements
    }

    func object(_ key: String) throws(JobProtocolError) -> JobObject {
        guard let member = value[key], member.members != nil else { throw malformed("\(key) must be an object") }
        return JobObject(member, "\(place), \(key)")
    }

    func strings(_ key: String) throws(JobProtocolError) -> [String] {
        var texts: [String] = []
        for element in try array(key) {
            guard let text = element.text, !text.utf8.contains(0) else { throw malformed("\(key) must hold texts") }
            texts.append(text)
        }
        return texts
    }

    func dictionary(_ key: String) throws(JobProtocolError) -> [String: String] {
        var dictionary: [String: String] = [:]
        for (name, member) in try object(key).value.members ?? [:] {
            guard let text = member.text, !text.utf8.contains(0), !name.utf8.contains(0), !name.isEmpty,
                !name.contains("=")
            else { throw malformed("\(key) must hold texts under names without =") }
            dictionary[name] = text
        }
        return dictionary
    }
}
