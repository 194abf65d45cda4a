import API
import Integrations
import Model

extension API.Readiness {
    /// Anybody may ask, so the reasons have no path and no name.
    init(_ health: ServiceHealth) {
        let troubles = health.troubles.filter(\.stopsWork)
        var checks = ServiceCondition.Kind.examined.map { kind in
            let fails = troubles.contains { $0.kind == kind }
            return Check(name: kind.rawValue, ready: !fails, reason: fails ? kind.sentence : nil)
        }
        if !health.isExamined {
            checks.append(
                Check(
                    name: "start", ready: false, reason: "the service has just started, and not every part was examined"
                ))
        }
        self.init(ready: checks.allSatisfy(\.ready), checks: checks)
    }
}

extension API.Condition {
    init(_ condition: ServiceCondition) {
        self.init(
            kind: condition.kind.rawValue, subject: condition.subject.isEmpty ? nil : condition.subject,
            reason: condition.reason, remedy: condition.remedy, stopsWork: condition.stopsWork)
    }
}
