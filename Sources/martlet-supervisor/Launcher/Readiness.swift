import Glibc
import JobProtocol

/// What a supervisor has made before it knows its job, so that the job's first command does not wait for it: the control group, whose
/// limits are set later.
final class Readiness {
    private let place: ControlGroupPlace?
    private var made: ControlGroup?

    /// Finds out what needs no job, and makes nothing yet.
    init() { place = ControlGroupPlace.find() }

    /// Makes what the next job will want.
    func prepare() {
        made = place.flatMap { ControlGroup(place: $0) }
        made?.lookBeforehand()
        Self.rehearse()
    }

    /// Reads and writes once what the job's beginning will: the first time takes ten times as long, for pages of the program that are not
    /// mapped yet, and tables that the runtime makes when they are needed.
    private static func rehearse() {
        let step = JobDescription.Step(
            step: "building", name: "step", arguments: ["/bin/true"], environment: ["A": "a"], timeoutMilliseconds: 1)
        let job = JobDescription(
            steps: [step], environment: ["PATH": "/usr/bin"], workspace: "/workspace", isolation: .sandbox,
            sandbox: JobDescription.Sandbox(readOnly: ["/usr"]))
        let launch = LaunchRequest(attempt: "/attempt", secrets: ["A": "a"])
        withExtendedLifetime(
            (
                try? JobDescription(json: job.json()), try? LaunchRequest(json: launch.json()),
                StatusEvent.started(step: 0, at: Time.wallMilliseconds()).line(),
                LaunchAnswer.started(pid: getpid()).json(), LockContent.ofThisProcess().text
            )
        ) {}
    }

    /// The job's group, with its limits.
    /// - Returns: `nil` if this machine lets us make none, or if a limit could not be set.
    func group(_ limits: JobDescription.Limits) -> ControlGroup? {
        made = made ?? place.flatMap { ControlGroup(place: $0) }
        if made?.limit(limits) == false { end() }
        return made
    }

    /// Removes the group. Further calls do nothing.
    func end() {
        made?.remove()
        made = nil
    }
}
