package import Testing

extension Trait where Self == ConditionTrait {
    /// Skips the test, with that reason, if no sandbox can be made. `martlet-supervisor --probe-fence` prints why.
    package static var sandbox: Self {
        .enabled("no sandbox can be made here: see martlet-supervisor --probe-fence") {
            try await run([try TestTools.builtProduct("martlet-supervisor"), "--probe-fence"]).status == 0
        }
    }

    /// Skips the test, with that reason, if a sandbox can only have the machine's own network.
    package static var userNetwork: Self {
        .enabled("a sandbox can have no network of its own here: see martlet-supervisor --probe-fence") {
            let finding = try await run([try TestTools.builtProduct("martlet-supervisor"), "--probe-fence"])
            return finding.stdout.contains(#""network":null"#)
        }
    }
}
