import Model

/// A few rows in every table, as each released schema wrote them. The rows of a released migration are never changed.
enum SampleRows {
    /// The contents of its table of tests.
    static let tests = [
        TestResult(suite: "KitTests", name: "testOne", outcome: .passed, duration: .milliseconds(1500)),
        TestResult(
            suite: "KitTests", name: "testTwo", outcome: .failed, duration: .microseconds(1_234_567),
            message: "expected 1", path: "Tests/a.swift", line: 7),
        TestResult(suite: "", name: "testOne", outcome: .skipped, message: "not on Linux", path: "Tests/b.swift"),
    ]

    static let version1 = """
        INSERT INTO repositories VALUES (1, 'https://git.example/kit.git', 'refs/heads/main', 1000, NULL, 0, 2, 2, 1);
        INSERT INTO refs VALUES (1, 'refs/heads/main', '0000000000000000000000000000000000000011', 2);
        INSERT INTO refs VALUES (1, 'refs/heads/release/1.4', '0000000000000000000000000000000000000012', 1);
        INSERT INTO refs VALUES (1, 'refs/heads/gone', NULL, 2);
        INSERT INTO ref_updates VALUES (1, 1, 'refs/heads/main', 2, '0000000000000000000000000000000000000010',
            '0000000000000000000000000000000000000011', 'integrated', NULL, 1000);
        INSERT INTO bots VALUES (1, 'kit', 1, 0, '{}', 'main', 41);
        INSERT INTO watched_refs VALUES (1, 'refs/heads/main');
        INSERT INTO deliveries VALUES (1, 'github/kit', 'd-1', 'abc', 1, 'kit', 'webhook', 'push', 900,
            '[{"after":"0000000000000000000000000000000000000011","ref":"refs/heads/main"}]', 'integrated', NULL, 1);
        INSERT INTO delivery_updates VALUES (1, 1);
        INSERT INTO integrations (id, bot, number, repository, ref, "commit", cause, ref_update, state, step, verdict,
            is_release, is_clean, summary, issue_set, queued_at, started_at, ended_at)
            VALUES (1, 1, 40, 1, 'refs/heads/main', '0000000000000000000000000000000000000010', 'baseline', NULL,
            'completed', 'completed', 'succeeded', 0, 0, NULL, 0, 1000, 1001, 1002);
        INSERT INTO integrations (id, bot, number, repository, ref, "commit", cause, ref_update, state, step, verdict,
            is_release, is_clean, summary, issue_set, queued_at, started_at, ended_at)
            VALUES (2, 1, 41, 1, 'refs/heads/main', '0000000000000000000000000000000000000011', 'push', 1, 'completed',
            'completed', 'warnings', 0, 0, '{"change":{"analyzerWarnings":0,"errors":0,"testFailures":0,"tests":0,
            "warnings":1},"counts":{"analyzerWarnings":0,"errors":0,"testFailures":0,"tests":1,"warnings":1}}', 1,
            1000, 1001, 1002);
        INSERT INTO attempts (id, integration, job, attempt, state, verdict, analysis, tested, notes, queued_at)
            VALUES (1, 2, 'debug', 1, 'processed', 'warnings', 'clean', '1 test', '[]', 1000);
        INSERT INTO steps VALUES (1, 0, 'building', 'build', 1001, 1002, 0, NULL, NULL);
        INSERT INTO findings VALUES (1, 0, 'f1', 'warning', 'unused', '', 'Sources/a.swift', 3, 1);
        INSERT INTO tests VALUES (1, 0, 'KitTests', 'testOne', 'passed', 1500000, NULL, NULL, NULL);
        INSERT INTO tests VALUES (1, 1, 'KitTests', 'testTwo', 'failed', 1234567, 'expected 1', 'Tests/a.swift', 7);
        INSERT INTO tests VALUES (1, 2, '', 'testOne', 'skipped', NULL, 'not on Linux', 'Tests/b.swift', NULL);
        INSERT INTO artifacts VALUES (1, 0, 'debug', 'products/kit.tar.zst', 12, 'ab');
        INSERT INTO issues VALUES (2, 1, 0, 'f1', 'new', 'warning', 'unused', '', 'Sources/a.swift', 3, 1, 1, '["debug"]');
        INSERT INTO triggers VALUES (1, 2, 'publish', 1, 'after', 'succeeded', NULL, 1002, 1003, NULL);
        INSERT INTO versions (id, product, version, state, "commit", ref, branch, integration, files, reserved_at,
            published_at) VALUES (1, 'kit', '1.4.0', 'published', '0000000000000000000000000000000000000012',
            'refs/heads/release/1.4', 'release/1.4', 'kit#39', '[{"path":"kit.tar.zst","sha256":"ab","size":12}]', 1, 2);
        INSERT INTO tokens VALUES ('root', 'admin', 'hash', 1, NULL);
        """
}
