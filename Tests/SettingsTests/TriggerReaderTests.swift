import Model
import Settings
import TestSupport
import Testing

@Suite struct TriggerReaderTests {
    private func read(_ triggers: String, head: String = "") -> Reading<BotSpecification> {
        BotFileReader.read(
            yaml: "repository: /r\n" + head + "triggers:\n" + triggers, file: "kit.yml", name: Name(nearest: "kit"))
    }

    @Test(
        .proves(
            .releases,
            "Versions: `version: { file: VERSION }` and `version: { command: … }`, the latter sandboxed like a job"),
        .proves(.triggers, "Script, from `triggers/` beside `bots/`, never one of the repository"),
        .proves(
            .triggers,
            "`sandbox: true` runs a script in the sandbox, with network and its own secrets; without a sandbox the script does not run"
        ),
        arguments: [
            Marked("  - §run: x\n", "the trigger has no `name`"),
            Marked("  - §name: a\n", "the trigger has no action; write one of `run`, `publish`, `upload`"),
            Marked("  - name: a\n    run: x\n    §publish: { version: branch }\n", "make one trigger of each"),
            Marked("  - name: §A b\n    run: x\n", "is not a name for `name`"),
            Marked(
                "  - name: a\n    run: x\n  - §name: a\n    run: y\n", "a trigger named `a` is there already, in line 3"
            ),
            Marked("  - name: a\n    run: §./x\n", "without a slash"),
            Marked("  - name: a\n    run: §..\n", "the name of one executable"),
            Marked("  - name: a\n    run: §x --fast\n", "without arguments"),
            Marked("  - name: a\n    run: x\n    when: §success\n", "did you mean `succeeded`?"),
            Marked("  - name: a\n    run: x\n    when: §[]\n", "would never run"),
            Marked("  - name: a\n    run: x\n    phase: before\n    §when: failed\n", "no result before"),
            Marked(
                "  - name: a\n    run: x\n    secrets: [a-b, §a.b]\n", "would both be the variable MARTLET_SECRET_A_B"),
            Marked("  - name: a\n    run: x\n    §credentials: c\n", "`credentials` belongs to `upload`"),
            Marked("  - name: a\n    run: x\n    §notify: c\n", "has no key"),
            Marked("  - name: a\n    run: x\n    sandbox: §yes\n", "`sandbox` is `true` or `false`"),
            Marked(
                "  - name: a\n    branches: ['*']\n    upload: /x\n    §sandbox: true\n", "`sandbox` belongs to `run`"),
            Marked(
                "  - name: a\n    branches: ['*']\n    publish: { version: branch }\n    §sandbox: true\n",
                "`sandbox` belongs to `run`"),
            Marked("  - §name: a\n    publish: { version: branch }\n", "`branches` is required for publish"),
            Marked(
                "  - §name: a\n    branches: []\n    publish: { version: branch }\n",
                "`branches` is required for publish"),
            Marked("  - §name: a\n    branches: [x]\n    publish: { version: tag }\n", "`tags` is required"),
            Marked("  - name: a\n    §branches: [main]\n    publish: { version: branch }\n", "no version can be made"),
            Marked("  - name: a\n    branches: ['*']\n    publish: { §file: VERSION }\n", "has no key"),
            Marked(
                "  - name: a\n    branches: ['*']\n    publish: { version: { file: §/V } }\n",
                "a path from the repository's root"),
            Marked(
                "  - name: a\n    branches: ['*']\n    publish: { version: { file: §a/../V } }\n",
                "a path from the repository's"),
            Marked(
                "  - name: a\n    branches: ['*']\n    publish: { version: §{ file: V, command: c } }\n",
                "one of `file` and `command`"),
            Marked("  - name: a\n    branches: ['*']\n    publish: { version: §{} }\n", "one of `file` and `command`"),
            Marked(
                "  - name: a\n    branches: ['*']\n    publish: { version: { §flie: V } }\n", "did you mean `file`?"),
            Marked(
                "  - §name: a\n    publish: { version: { file: V } }\n", "`branches` or `tags` is required for publish"),
            Marked(
                "  - §name: a\n    publish: { version: { command: c } }\n",
                "`branches` or `tags` is required for publish"),
            Marked(
                "  - name: a\n    branches: ['*']\n    publish: { version: branch, §registry: x }\n",
                "a package's scope and name"),
            Marked(
                "  - name: a\n    branches: ['*']\n    publish: { version: branch, §registry: -a.b }\n",
                "a package's scope and name"),
            Marked("  - name: a\n    branches: ['*']\n    publish: { version: §brunch }\n", "did you mean `branch`?"),
            Marked("  - name: a\n    branches: ['*']\n    publish: §{}\n", "`publish` needs `version: branch`"),
            Marked("  - §name: a\n    upload: /x\n", "`branches` is required for upload"),
            Marked(
                "  - name: a\n    branches: ['*']\n    upload: §sftp://h/{version}/\n",
                "no trigger before this one publishes"),
            Marked("  - name: a\n    branches: ['*']\n    upload: §sftp://h/{comit}/\n", "did you mean `commit`?"),
            Marked("  - name: a\n    branches: ['*']\n    upload: §sftp://h/{user}/\n", "known are {product}"),
            Marked("  - name: a\n    branches: ['*']\n    upload: §sftp://h/{commit/\n", "has no partner"),
            Marked("  - name: a\n    branches: ['*']\n    upload: §sftp://{branch}.h/\n", "a placeholder in its host"),
            Marked("  - name: a\n    branches: ['*']\n    upload: §http://h/x/\n", "add `insecure: true`"),
            Marked("  - name: a\n    branches: ['*']\n    upload: §ftp://h/x/\n", "use https, sftp or ftps"),
            Marked("  - name: a\n    branches: ['*']\n    upload: §s3://acme/x/\n", "needs `credentials:`"),
            Marked("  - name: a\n    branches: ['*']\n    upload: §s3://{product}/x/\n", "names no bucket"),
            Marked("  - name: a\n    branches: ['*']\n    upload: §s3://AKIA:key@acme/x/\n", "has a password in it"),
            Marked("  - name: a\n    branches: ['*']\n    upload: §s3://AKIA@acme/x/\n", "has a password in it"),
            Marked("  - name: a\n    branches: ['*']\n    upload: §s3://acme/x/?acl=public\n", "`region=NAME`"),
            Marked(
                "  - name: a\n    branches: ['*']\n    upload: §s3://acme/x/?region={branch}\n", "belong to the path"),
            Marked(
                "  - name: a\n    branches: ['*']\n    upload: §s3://acme/x/?endpoint=http://h\n", "an endpoint by http"
            ),
            Marked("  - name: a\n    branches: ['*']\n    upload: §gopher://h/x/\n", "is not supported; use sftp"),
            Marked(
                "  - name: a\n    branches: ['*']\n    upload: §https://u:hunter2@h/x/\n",
                "name a secret with `credentials:`"),
            Marked("  - name: a\n    branches: ['*']\n    upload: §https://h/x?y=\n", "query or fragment"),
            Marked("  - name: a\n    branches: ['*']\n    upload: §files/\n", "is not an address"),
            Marked("  - name: a\n    branches: ['*']\n    upload: §/srv/../etc\n", "`..`"),
            Marked(
                "  - name: a\n    branches: ['*']\n    upload: /x\n    §secrets: [c]\n", "an upload has `credentials`"),
        ])
    func testThatItSaysWhereAndWhatIsWrong(_ sample: Marked) {
        // when
        let reading = read(sample.text)
        // then
        sample.expectFirst(of: reading.diagnostics, below: 2)
        #expect(reading.value == nil)
        #expect(!reading.diagnostics.contains { $0.message.contains("hunter2") })
    }

    @Test(arguments: [
        "ftps://h/{product}/", "ftps://u@h:990/x", "s3://acme-files/{product}/{commit}/",
        "s3://acme/x?region=eu-west-1&endpoint=https://s3.example:9000&use_path_style=false",
    ])
    func testThatItTakesWhatTransferSpeaks(address: String) {
        let trigger = "  - name: u\n    branches: [main]\n    credentials: office\n    upload: \"\(address)\"\n"
        #expect(read(trigger).diagnostics.isEmpty)
    }

    @Test func testThatAVersionIsKnownAfterAPublishTrigger() {
        let publish = "  - name: p\n    branches: [\"release/*\"]\n    publish: { version: branch }\n"
        let upload = "  - name: u\n    branches: [\"release/*\"]\n    upload: https://h/{product}/{version}/{file}\n"
        #expect(read(publish + upload).diagnostics.isEmpty)
        #expect(!read(upload + publish).errors.isEmpty)
    }

    @Test func testThatTagsThatTheBotDoesNotWatchAreAWarning() {
        let trigger = "  - name: p\n    tags: [\"v*\"]\n    publish: { version: tag }\n"
        let reading = read(trigger)
        #expect(reading.value != nil)
        #expect(reading.diagnostics.map(\.severity) == [.warning])
        #expect(read(trigger, head: "tags: [\"v*\"]\n").diagnostics.isEmpty)
    }

    @Test func testThatATriggersTimeoutIsTheBotsWhenItHasNone() {
        let reading = read("  - name: a\n    run: x\n", head: "timeout: 5m\n")
        #expect(reading.value?.triggers.first?.timeout == .seconds(300))
    }

    /// A commit gets one version, so the registry lines of a second trigger would never take effect.
    @Test(
        .proves(
            .releases,
            "Registry: `registry:` that comes after a commit was published is said, not silently without effect"),
        arguments: [
            ("branches: [release/*]", "version: branch", "branches: [release/1.*]", "version: branch", true),
            ("branches: [release/1.0]", "version: branch", "branches: [release/*]", "version: branch", true),
            ("tags: ['v*']", "version: tag", "tags: ['v*']", "version: tag", true),
            ("branches: [release/*]", "version: branch", "branches: [hotfix/1.*]", "version: branch", false),
            ("branches: [release/*]", "version: branch", "tags: ['v*']", "version: tag", false),
            ("branches: [release/*]", "version: { file: V }", "branches: [release/*]", "version: branch", false),
            ("branches: [r/1.*]", "version: branch, registry: Acme.Kit", "branches: [r/1.*]", "version: branch", false),
            ("branches: [r/1.*]", "version: branch, registry: acme.old", "branches: [r/1.*]", "version: branch", true),
        ])
    func testThatASecondRegistryOfTheSameCommitsIsWarnedOf(
        refs: String, publish: String, otherRefs: String, otherPublish: String, isWarned: Bool
    ) {
        let reading = read(
            "  - { name: a, \(refs), publish: { \(publish) } }\n"
                + "  - { name: b, \(otherRefs), publish: { \(otherPublish), registry: acme.kit } }\n",
            head: "tags: ['v*']\n")
        #expect(reading.value != nil)
        #expect(
            reading.diagnostics.filter { $0.message.contains("`a` publishes commits of the same refs") }
                .map(\.severity) == (isWarned ? [.warning] : []), "\(reading.diagnostics)")
    }
}
