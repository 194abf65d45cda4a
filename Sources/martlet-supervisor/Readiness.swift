import Glibc
import JobProtocol

/// What a supervisor has made before it knows its job, so that the job's first command does not wait for it: the control group, whose
/// limits are set later, and bubblewrap, which is told later what to fence.
final class Readiness {
    private let place: ControlGroupPlace?
    private var made: ControlGroup?
    private(set) var fence: FenceProcess?

    /// Finds out what needs no job, and makes nothing yet.
    init() { place = ControlGroupPlace.find() }

    /// Makes what the next job will want.
    /// - Parameter fenced: Whether it will have a fence. Where bubblewrap cannot be started, the job tries that itself and says why.
    func prepare(fenced: Bool) {
        made = place.flatMap { ControlGroup(place: $0) }
        // In a group with bubblewrap something can happen yet.
        if !fenced { made?.lookBeforehand() }
        Self.rehearse()
        guard fenced, let bubblewrap = Bubblewrap.path(), let process = FenceProcess() else { return }
        guard process.start(bubblewrap, identity: nil, group: made, fileBytes: nil, meanwhile: {}) == nil else {
            return process.end()
        }
        fence = process
    }

    /// Reads and writes once what the job's beginning will: the first time takes ten times as long, for pages of the program that are not
    /// mapped yet, and tables that the runtime makes when they are needed.
    private static func rehearse() {
        let step = JobDescription.Step(
            step: "building", name: "step", arguments: ["/bin/true"], environment: ["A": "a"], timeoutMilliseconds: 1)
        let job = JobDescription(
            steps: [step], environment: ["PATH": "/usr/bin"], workspace: "/workspace", isolation: .sandbox,
            fence: JobDescription.Fence(readOnly: ["/usr"]))
        let launch = LaunchRequest(attempt: "/attempt", secrets: ["A": "a"])
        withExtendedLifetime(
            (
                try? JobDescription(json: job.json()), try? LaunchRequest(json: launch.json()),
                StatusEvent.started(step: 0, at: Time.wallMilliseconds()).line(),
                LaunchAnswer.started(pid: getpid(), isFenced: true).json(), LockContent.ofThisProcess().text
            )
        ) {}
    }

    /// The job's group, with its limits.
    /// - Returns: Nothing where this machine lets us make none, or where a limit could not be set: what waits in it is ended then.
    func group(_ limits: JobDescription.Limits) -> ControlGroup? {
        made = made ?? place.flatMap { ControlGroup(place: $0) }
        if made?.limit(limits) == false { end() }
        return made
    }

    /// Ends and removes what no job uses any more; more than once, nothing.
    func end() {
        endFence()
        made?.remove()
        made = nil
    }

    /// Ends a fence that the job does not want. Its group is the job's.
    func endFence() {
        fence?.end()
        fence = nil
    }
}
