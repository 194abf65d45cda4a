PRAGMA foreign_keys = OFF;
BEGIN;
CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
CREATE TABLE repositories (
    id INTEGER PRIMARY KEY,
    url TEXT NOT NULL UNIQUE,
    default_branch TEXT,
    last_look INTEGER,
    last_error TEXT,
    failures INTEGER NOT NULL DEFAULT 0,
    requested INTEGER NOT NULL DEFAULT 0, -- sequence of the latest request to look
    looked INTEGER NOT NULL DEFAULT 0,    -- sequence of the latest request that was answered
    has_authentic_webhook INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE refs (
    repository INTEGER NOT NULL REFERENCES repositories(id),
    name TEXT NOT NULL,
    head TEXT,                            -- NULL: deleted; the generation goes on
    generation INTEGER NOT NULL,
    PRIMARY KEY (repository, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE ref_updates (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    repository INTEGER NOT NULL REFERENCES repositories(id),
    ref TEXT NOT NULL,
    generation INTEGER NOT NULL,
    before TEXT,
    after TEXT,
    fate TEXT NOT NULL,
    reason TEXT,
    at INTEGER NOT NULL,
    UNIQUE (repository, ref, generation)
) STRICT;
CREATE TABLE bots (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    repository INTEGER NOT NULL REFERENCES repositories(id),
    is_retired INTEGER NOT NULL DEFAULT 0,
    specification TEXT NOT NULL,
    patterns TEXT,                        -- of the last look; NULL: not looked yet
    last_number INTEGER NOT NULL DEFAULT 0
, destinations TEXT NOT NULL DEFAULT '[]', is_returning INTEGER NOT NULL DEFAULT 0, retired_at INTEGER, deleted_at INTEGER) STRICT;
CREATE TABLE watched_refs (
    bot INTEGER NOT NULL REFERENCES bots(id),
    ref TEXT NOT NULL,
    PRIMARY KEY (bot, ref)
) STRICT, WITHOUT ROWID;
CREATE TABLE deliveries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    hook TEXT NOT NULL,
    delivery_id TEXT,
    body_digest TEXT,
    repository INTEGER REFERENCES repositories(id),
    bot TEXT,
    source TEXT NOT NULL,
    event TEXT NOT NULL,
    received_at INTEGER NOT NULL,
    claims TEXT NOT NULL,                 -- JSON
    fate TEXT NOT NULL,
    reason TEXT,
    request INTEGER                       -- sequence of the look it asked for
, pull_request INTEGER, tries INTEGER NOT NULL DEFAULT 0, awaited TEXT) STRICT;
CREATE TABLE delivery_updates (
    delivery INTEGER NOT NULL REFERENCES deliveries(id),
    ref_update INTEGER NOT NULL REFERENCES ref_updates(id),
    PRIMARY KEY (delivery, ref_update)
) STRICT, WITHOUT ROWID;
CREATE TABLE integrations (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    bot INTEGER NOT NULL REFERENCES bots(id),
    number INTEGER NOT NULL CHECK (number > 0),
    repository INTEGER NOT NULL REFERENCES repositories(id),
    ref TEXT NOT NULL,
    "commit" TEXT NOT NULL,
    cause TEXT NOT NULL,
    ref_update INTEGER REFERENCES ref_updates(id),
    requested_by TEXT,
    state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'completed')),
    step TEXT NOT NULL,
    verdict TEXT,
    trigger_failed INTEGER NOT NULL DEFAULT 0,
    is_release INTEGER NOT NULL,
    is_clean INTEGER NOT NULL,
    recipe TEXT,                          -- JSON
    subject TEXT,
    author TEXT,
    committed_at INTEGER,
    tree TEXT,
    summary TEXT,                         -- JSON
    issue_set INTEGER NOT NULL DEFAULT 0, -- the set of issues that is visible; 0: none yet
    reason TEXT,
    queued_at INTEGER NOT NULL,
    started_at INTEGER,
    ended_at INTEGER, run INTEGER NOT NULL DEFAULT 1, superseded_by INTEGER REFERENCES integrations(id), specification TEXT, pull_request INTEGER, pull_place TEXT, base TEXT, base_commit TEXT, head TEXT, source TEXT, approved_by TEXT, unmerged TEXT, is_skipped INTEGER NOT NULL DEFAULT 0, ending_run INTEGER, removed_at INTEGER, disk_run INTEGER, disk_bytes INTEGER, disk_files INTEGER, parted_from INTEGER,
    UNIQUE (bot, number),
    CHECK ((state = 'completed') = (verdict IS NOT NULL))
) STRICT;
CREATE TABLE attempts (
    id INTEGER PRIMARY KEY,
    integration INTEGER NOT NULL REFERENCES integrations(id),
    job TEXT NOT NULL,
    attempt INTEGER NOT NULL CHECK (attempt > 0),
    state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'ended', 'processed')),
    step TEXT,
    verdict TEXT,
    analysis TEXT,
    tested TEXT,
    summary TEXT,                         -- JSON
    reason TEXT,
    notes TEXT NOT NULL DEFAULT '[]',     -- JSON
    queued_at INTEGER NOT NULL,
    started_at INTEGER,
    ended_at INTEGER, run INTEGER NOT NULL DEFAULT 1, test_filter TEXT, isolation TEXT,
    UNIQUE (integration, job, attempt),
    CHECK ((state = 'processed') = (verdict IS NOT NULL))
) STRICT;
CREATE TABLE steps (
    attempt INTEGER NOT NULL REFERENCES attempts(id),
    place INTEGER NOT NULL,
    step TEXT NOT NULL,
    name TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    exit INTEGER,
    signal INTEGER,
    "limit" TEXT,
    PRIMARY KEY (attempt, place)
) STRICT, WITHOUT ROWID;
CREATE TABLE findings (
    attempt INTEGER NOT NULL REFERENCES attempts(id),
    place INTEGER NOT NULL,
    fingerprint TEXT NOT NULL,
    category TEXT NOT NULL,
    message TEXT NOT NULL,
    rule TEXT NOT NULL,
    path TEXT,
    line INTEGER,
    "column" INTEGER, content TEXT NOT NULL DEFAULT '', step TEXT,
    PRIMARY KEY (attempt, place)
) STRICT, WITHOUT ROWID;
CREATE TABLE artifacts (
    attempt INTEGER NOT NULL REFERENCES attempts(id),
    place INTEGER NOT NULL,
    configuration TEXT,
    path TEXT NOT NULL,
    size INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    PRIMARY KEY (attempt, place)
) STRICT, WITHOUT ROWID;
CREATE TABLE issues (
    integration INTEGER NOT NULL REFERENCES integrations(id),
    issue_set INTEGER NOT NULL,
    place INTEGER NOT NULL,
    fingerprint TEXT NOT NULL,
    status TEXT NOT NULL,
    category TEXT NOT NULL,
    message TEXT NOT NULL,
    rule TEXT NOT NULL,
    path TEXT,
    line INTEGER,
    "column" INTEGER,
    age INTEGER NOT NULL,
    configurations TEXT NOT NULL, content TEXT NOT NULL DEFAULT '', since INTEGER, introduced_by TEXT, silence TEXT, step TEXT,         -- JSON
    PRIMARY KEY (integration, issue_set, place)
) STRICT, WITHOUT ROWID;
CREATE TABLE triggers (
    id INTEGER PRIMARY KEY,
    integration INTEGER NOT NULL REFERENCES integrations(id),
    "trigger" TEXT NOT NULL,
    attempt INTEGER NOT NULL CHECK (attempt > 0),
    phase TEXT NOT NULL,
    state TEXT NOT NULL,
    reason TEXT,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    log TEXT, run INTEGER NOT NULL DEFAULT 1, version TEXT,
    UNIQUE (integration, "trigger", attempt)
) STRICT;
CREATE TABLE versions (
    id INTEGER PRIMARY KEY,
    product TEXT NOT NULL,
    version TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('reserved', 'published')),
    is_yanked INTEGER NOT NULL DEFAULT 0,
    yanked_at INTEGER,
    "commit" TEXT NOT NULL,
    ref TEXT NOT NULL,
    branch TEXT,                          -- only where the number came from the branch
    integration TEXT NOT NULL,            -- as the manifest writes it: an adopted version's may have no row
    files TEXT NOT NULL DEFAULT '[]',     -- JSON
    reserved_at INTEGER NOT NULL,
    published_at INTEGER, registry TEXT COLLATE NOCASE, repository TEXT,
    UNIQUE (product, version),
    CHECK ((state = 'published') = (published_at IS NOT NULL))
) STRICT;
CREATE TABLE tokens (
    name TEXT NOT NULL PRIMARY KEY,
    role TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
, bots TEXT) STRICT, WITHOUT ROWID;
CREATE TABLE reruns (
    integration INTEGER NOT NULL REFERENCES integrations(id),
    run INTEGER NOT NULL CHECK (run > 1),
    requested_by TEXT NOT NULL,
    requested_at INTEGER NOT NULL,
    is_failed_only INTEGER NOT NULL,
    test_filter TEXT,
    is_triggers_only INTEGER NOT NULL,
    before TEXT NOT NULL,                 -- JSON: what the integration had come to
    PRIMARY KEY (integration, run)
) STRICT, WITHOUT ROWID;
CREATE TABLE test_names (
    id INTEGER PRIMARY KEY,
    bot INTEGER NOT NULL REFERENCES bots(id),
    suite TEXT NOT NULL,
    name TEXT NOT NULL,
    UNIQUE (bot, suite, name)
) STRICT;
CREATE TABLE test_profiles (               -- what records are written against
    id INTEGER PRIMARY KEY,
    bot INTEGER NOT NULL REFERENCES bots(id),
    job TEXT NOT NULL,
    record BLOB NOT NULL
) STRICT;
CREATE TABLE test_records (
    attempt INTEGER PRIMARY KEY REFERENCES attempts(id),
    profile INTEGER REFERENCES test_profiles(id),
    record BLOB NOT NULL
) STRICT;
CREATE TABLE test_rows (
    id INTEGER PRIMARY KEY,
    attempt INTEGER NOT NULL REFERENCES attempts(id),
    test INTEGER NOT NULL REFERENCES test_names(id),
    outcome TEXT NOT NULL,
    before TEXT,                           -- in the branch's integration before; NULL: not run, or none before
    duration INTEGER,                      -- microseconds
    message TEXT,
    path TEXT,
    line INTEGER,
    UNIQUE (attempt, test)
) STRICT;
CREATE TABLE silences (
    bot INTEGER NOT NULL REFERENCES bots(id),
    fingerprint TEXT NOT NULL,
    reason TEXT NOT NULL,
    person TEXT NOT NULL,
    at INTEGER NOT NULL,
    expires INTEGER,
    PRIMARY KEY (bot, fingerprint)
) STRICT, WITHOUT ROWID;
CREATE TABLE coverage (
    attempt INTEGER PRIMARY KEY REFERENCES attempts(id),
    files INTEGER NOT NULL,
    lines_covered INTEGER NOT NULL,
    lines_total INTEGER NOT NULL,
    functions_covered INTEGER,             -- NULL: the tool does not count them
    functions_total INTEGER,
    branches_covered INTEGER,
    branches_total INTEGER,
    record BLOB NOT NULL
) STRICT;
CREATE TABLE pull_requests (
    repository INTEGER NOT NULL REFERENCES repositories(id),
    number INTEGER NOT NULL CHECK (number > 0),
    ref TEXT NOT NULL,                    -- its name in the ledger
    place TEXT NOT NULL,                  -- the ref at which its head is looked for
    base TEXT NOT NULL,                   -- as the events say
    is_open INTEGER NOT NULL,             -- as the events say
    told_at INTEGER,                      -- the forge's time of the newest event
    has_changed INTEGER NOT NULL DEFAULT 0, -- opened again, or got another base, since the last look
    head TEXT,                            -- of the last look; NULL: none has found it
    source TEXT,                          -- the branch that had that head at its tip then; NULL: a fork's
    generation INTEGER NOT NULL DEFAULT 0, told_rank INTEGER NOT NULL DEFAULT 0, base_before TEXT, base_tip TEXT, judged_tip TEXT, missing_since INTEGER, moved_at INTEGER NOT NULL DEFAULT 0, closed_at INTEGER, closed_reason TEXT,
    PRIMARY KEY (repository, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE pull_approvals (
    bot INTEGER NOT NULL REFERENCES bots(id),
    number INTEGER NOT NULL,
    base TEXT NOT NULL,
    head TEXT NOT NULL,
    person TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (bot, number, base, head)
) STRICT, WITHOUT ROWID;
CREATE TABLE outbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    destination TEXT NOT NULL,
    account TEXT NOT NULL,                -- the name of the secret that lets us in there; empty: not told apart
    subject TEXT NOT NULL,                -- of one, each waits for those before it
    is_first INTEGER NOT NULL,            -- of its subject's open ones
    bot TEXT NOT NULL,
    number INTEGER,                       -- NULL: there is no integration
    job TEXT,
    content TEXT NOT NULL,                -- JSON
    state TEXT NOT NULL CHECK (state IN ('waiting', 'sending', 'sent', 'superseded', 'unneeded', 'given-up')),
    tries INTEGER NOT NULL DEFAULT 0,
    is_uncertain INTEGER NOT NULL DEFAULT 0, -- a try may have arrived without our knowing
    next_at INTEGER NOT NULL,
    note TEXT,                            -- what the last try came to
    created_at INTEGER NOT NULL,
    failed_at INTEGER,                    -- when the first try failed
    ended_at INTEGER
) STRICT;
CREATE TABLE standings (
    bot INTEGER NOT NULL REFERENCES bots(id),
    ref TEXT NOT NULL,
    is_good INTEGER NOT NULL,
    number INTEGER NOT NULL,              -- the integration's that says so
    broken_number INTEGER,
    broken_run INTEGER,
    PRIMARY KEY (bot, ref)
) STRICT, WITHOUT ROWID;
CREATE TABLE comments (
    bot TEXT NOT NULL,
    number INTEGER NOT NULL,              -- the pull request's
    destination TEXT NOT NULL,
    project TEXT NOT NULL,
    comment INTEGER NOT NULL,             -- as the forge counts
    PRIMARY KEY (bot, number, destination, project)
) STRICT, WITHOUT ROWID;
CREATE TABLE schedules (
    bot INTEGER NOT NULL PRIMARY KEY REFERENCES bots(id),
    schedule TEXT NOT NULL,               -- times and zone, so that another schedule begins anew
    taken_up INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE toolchains (
    bot INTEGER NOT NULL PRIMARY KEY REFERENCES bots(id),
    version TEXT NOT NULL,
    next TEXT,                            -- the one for which they are being queued
    reached TEXT                          -- up to which ref, in order of name
) STRICT, WITHOUT ROWID;
CREATE TABLE pull_silences (
    bot INTEGER NOT NULL REFERENCES bots(id),
    number INTEGER NOT NULL,              -- the pull request's
    fingerprint TEXT NOT NULL,
    reason TEXT NOT NULL,
    person TEXT NOT NULL,
    at INTEGER NOT NULL,
    expires INTEGER,
    PRIMARY KEY (bot, number, fingerprint)
) STRICT, WITHOUT ROWID;
CREATE TABLE downloads (
    product TEXT NOT NULL,
    version TEXT NOT NULL,
    path TEXT NOT NULL,
    count INTEGER NOT NULL CHECK (count > 0),
    PRIMARY KEY (product, version, path)
) STRICT, WITHOUT ROWID;
CREATE TABLE removals (
    bot INTEGER NOT NULL REFERENCES bots(id),
    number INTEGER NOT NULL,
    at INTEGER NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (bot, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE retention_clock (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    at INTEGER NOT NULL
) STRICT;
CREATE TABLE newest_of_refs (
    bot INTEGER NOT NULL REFERENCES bots(id),
    ref TEXT NOT NULL,
    integration INTEGER NOT NULL,
    PRIMARY KEY (bot, ref)
) STRICT, WITHOUT ROWID;
CREATE TABLE sessions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,  -- never given twice
    hash TEXT NOT NULL UNIQUE,
    person TEXT NOT NULL,
    token TEXT REFERENCES tokens(name),    -- NULL: signed in by a provider
    issuer TEXT,                           -- NULL: signed in by a token
    mail TEXT,                             -- verified by the provider
    groups TEXT,                           -- JSON, an array of texts
    created_at INTEGER NOT NULL,
    used_at INTEGER NOT NULL,              -- at most an hour late
    CHECK ((token IS NULL) = (issuer IS NOT NULL))
) STRICT;
CREATE TABLE log_places (
    attempt INTEGER NOT NULL REFERENCES attempts(id),
    place INTEGER NOT NULL,
    log_line INTEGER NOT NULL,
    category TEXT NOT NULL,
    subject TEXT NOT NULL,                 -- a test's full name, or the beginning of a message
    path TEXT,
    line INTEGER,
    PRIMARY KEY (attempt, place)
) STRICT, WITHOUT ROWID;
CREATE TABLE audit (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    action TEXT NOT NULL,
    actor TEXT NOT NULL,
    address TEXT,                          -- the client's; NULL: a peer of the Unix socket, or the service itself
    bot TEXT,                              -- NULL: it is about no bot
    subject TEXT NOT NULL,
    detail TEXT
) STRICT;
CREATE TABLE conditions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,                 -- empty: the service as a whole
    reason TEXT NOT NULL,
    remedy TEXT NOT NULL,
    begun_at INTEGER NOT NULL,
    ended_at INTEGER,
    mailed_begin INTEGER,                  -- NULL: the mail that it began was not sent
    mailed_end INTEGER,
    posted_begin INTEGER,                  -- the same of the webhook
    posted_end INTEGER
) STRICT;
CREATE TABLE probes (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    at INTEGER NOT NULL
) STRICT;
CREATE TABLE pauses (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('pause', 'drain', 'publishing')),
    bot INTEGER UNIQUE REFERENCES bots(id), -- NULL: the whole service
    boot TEXT,
    reason TEXT,
    person TEXT NOT NULL,
    at INTEGER NOT NULL,
    CHECK (bot IS NULL OR kind = 'pause')
) STRICT;
CREATE TABLE former_bots (
    name TEXT NOT NULL PRIMARY KEY,
    bot INTEGER REFERENCES bots(id),       -- NULL: deleted
    last_number INTEGER NOT NULL,
    at INTEGER NOT NULL,
    is_settled INTEGER NOT NULL            -- whether its files have the bot's present name
) STRICT, WITHOUT ROWID;
CREATE TABLE lost_versions (
    product TEXT NOT NULL,
    version TEXT NOT NULL,
    person TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (product, version)
) STRICT, WITHOUT ROWID;
INSERT INTO grdb_migrations VALUES ('1');
INSERT INTO grdb_migrations VALUES ('2');
INSERT INTO grdb_migrations VALUES ('audit');
INSERT INTO grdb_migrations VALUES ('branches');
INSERT INTO grdb_migrations VALUES ('comments');
INSERT INTO grdb_migrations VALUES ('control');
INSERT INTO grdb_migrations VALUES ('coverage');
INSERT INTO grdb_migrations VALUES ('downloads');
INSERT INTO grdb_migrations VALUES ('finders');
INSERT INTO grdb_migrations VALUES ('found');
INSERT INTO grdb_migrations VALUES ('isolation');
INSERT INTO grdb_migrations VALUES ('issues');
INSERT INTO grdb_migrations VALUES ('lists');
INSERT INTO grdb_migrations VALUES ('log places');
INSERT INTO grdb_migrations VALUES ('origins');
INSERT INTO grdb_migrations VALUES ('outbox');
INSERT INTO grdb_migrations VALUES ('pull care');
INSERT INTO grdb_migrations VALUES ('pull requests');
INSERT INTO grdb_migrations VALUES ('registry');
INSERT INTO grdb_migrations VALUES ('retention');
INSERT INTO grdb_migrations VALUES ('returning');
INSERT INTO grdb_migrations VALUES ('schedules');
INSERT INTO grdb_migrations VALUES ('scopes');
INSERT INTO grdb_migrations VALUES ('sessions');
INSERT INTO grdb_migrations VALUES ('skipping');
INSERT INTO grdb_migrations VALUES ('standings');
INSERT INTO grdb_migrations VALUES ('test records');
INSERT INTO grdb_migrations VALUES ('toolchains');
INSERT INTO grdb_migrations VALUES ('trigger versions');
INSERT INTO repositories VALUES (1, 'https://git.example/kit.git', 'refs/heads/main', 1000, NULL, 0, 2, 2, 1);
INSERT INTO refs VALUES (1, 'refs/heads/gone', NULL, 2);
INSERT INTO refs VALUES (1, 'refs/heads/main', '0000000000000000000000000000000000000011', 2);
INSERT INTO refs VALUES (1, 'refs/heads/release/1.4', '0000000000000000000000000000000000000012', 1);
INSERT INTO ref_updates VALUES (1, 1, 'refs/heads/main', 2, '0000000000000000000000000000000000000010', '0000000000000000000000000000000000000011', 'integrated', NULL, 1000);
INSERT INTO bots VALUES (1, 'kit', 1, 0, '{}', 'main', 41, '[]', 0, NULL, NULL);
INSERT INTO bots VALUES (2, 'tool', 1, 0, '{}', 'main', 5, '[]', 0, NULL, NULL);
INSERT INTO bots VALUES (3, 'old', 1, 1, '{}', NULL, 3, '[]', 1, 1772366400000, NULL);
INSERT INTO watched_refs VALUES (1, 'refs/heads/main');
INSERT INTO deliveries VALUES (1, 'github/kit', 'd-1', 'abc', 1, 'kit', 'webhook', 'push', 900, '[{"after":"0000000000000000000000000000000000000011","ref":"refs/heads/main"}]', 'integrated', NULL, 1, NULL, 0, NULL);
INSERT INTO deliveries VALUES (2, 'github/kit', NULL, NULL, 1, 'tool', 'webhook', 'pull_request', 950, '[]', 'integrated', NULL, NULL, 7, 0, NULL);
INSERT INTO delivery_updates VALUES (1, 1);
INSERT INTO integrations VALUES (1, 1, 40, 1, 'refs/heads/main', '0000000000000000000000000000000000000010', 'baseline', NULL, NULL, 'completed', 'completed', 'succeeded', 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, 1000, 1001, 1002, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO integrations VALUES (2, 1, 41, 1, 'refs/heads/main', '0000000000000000000000000000000000000011', 'push', 1, NULL, 'completed', 'completed', 'warnings', 0, 0, 0, NULL, NULL, NULL, NULL, NULL, '{"change":{"analyzerWarnings":0,"errors":0,"testFailures":0,"tests":0,
    "warnings":1},"counts":{"analyzerWarnings":0,"errors":0,"testFailures":0,"tests":1,"warnings":1}}', 1, NULL, 1000, 1001, 1002, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO integrations VALUES (3, 2, 1, 1, 'refs/heads/release/1.4', '0000000000000000000000000000000000000009', 'poll', NULL, NULL, 'completed', 'completed', 'canceled', 0, 1, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, 900, 901, 902, 2, 4, '{}', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO integrations VALUES (4, 2, 2, 1, 'refs/heads/release/1.4', '0000000000000000000000000000000000000012', 'poll', NULL, NULL, 'completed', 'completed', 'succeeded', 0, 1, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, 905, 906, 907, 1, NULL, '{}', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO integrations VALUES (5, 2, 3, 1, 'refs/pull/7/merge', '0000000000000000000000000000000000000014', 'push', NULL, NULL, 'completed', 'completed', 'succeeded', 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, 960, 961, 962, 1, NULL, NULL, 7, 'refs/pull/7/head', 'main', '0000000000000000000000000000000000000011', '0000000000000000000000000000000000000013', 'feature', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO integrations VALUES (6, 2, 4, 1, 'refs/heads/main', '0000000000000000000000000000000000000009', 'push', NULL, NULL, 'completed', 'completed', 'canceled', 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0, '[skip ci]', 950, NULL, 950, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO integrations VALUES (7, 2, 5, 1, 'refs/heads/gone', '0000000000000000000000000000000000000008', 'push', NULL, NULL, 'completed', 'completed', 'succeeded', 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, 800, NULL, 801, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, 1000, 1, 4096, 2, 1);
INSERT INTO attempts VALUES (1, 2, 'debug', 1, 'processed', NULL, 'warnings', 'clean', '1 test', NULL, NULL, '[]', 1000, NULL, NULL, 1, NULL, NULL);
INSERT INTO attempts VALUES (2, 3, 'debug', 1, 'processed', NULL, 'canceled', 'clean', 'no tests', NULL, NULL, '[]', 900, NULL, NULL, 2, 'KitTests', NULL);
INSERT INTO attempts VALUES (3, 4, 'debug', 1, 'processed', NULL, 'succeeded', 'clean', 'no tests', NULL, NULL, '[]', 1000, NULL, NULL, 1, NULL, 'sandbox');
INSERT INTO steps VALUES (1, 0, 'building', 'build', 1001, 1002, 0, NULL, NULL);
INSERT INTO findings VALUES (1, 0, 'f1', 'warning', 'unused', '', 'Sources/a.swift', 3, 1, '', NULL);
INSERT INTO findings VALUES (2, 0, 'f2', 'warning', 'deprecated', '', 'Sources/b.swift', 4, 2, 'c2', NULL);
INSERT INTO findings VALUES (3, 0, 'f3', 'warning', 'late', '', NULL, NULL, NULL, 'c3', 'testing');
INSERT INTO artifacts VALUES (1, 0, 'debug', 'products/kit.tar.zst', 12, 'ab');
INSERT INTO issues VALUES (2, 1, 0, 'f1', 'new', 'warning', 'unused', '', 'Sources/a.swift', 3, 1, 1, '["debug"]', '', NULL, NULL, NULL, NULL);
INSERT INTO issues VALUES (3, 1, 0, 'f2', 'new', 'warning', 'deprecated', '', 'Sources/b.swift', 4, 2, 2, '["debug"]', 'c2', 35, NULL, '{"at":1000,"person":"ann","reason":"known since spring"}', NULL);
INSERT INTO issues VALUES (3, 1, 1, 'f3', 'persistent', 'warning', 'late', '', NULL, NULL, NULL, 3, '["debug"]', 'c3', 34, NULL, NULL, 'testing');
INSERT INTO triggers VALUES (1, 2, 'publish', 1, 'after', 'succeeded', NULL, 1002, 1003, NULL, 1, NULL);
INSERT INTO triggers VALUES (2, 3, 'deploy', 1, 'before', 'failed', NULL, 901, 902, NULL, 2, NULL);
INSERT INTO triggers VALUES (3, 1, 'publish', 1, 'after', 'succeeded', NULL, 1002, 1003, NULL, 1, '2.0.0');
INSERT INTO versions VALUES (1, 'kit', '1.4.0', 'published', 0, NULL, '0000000000000000000000000000000000000012', 'refs/heads/release/1.4', 'release/1.4', 'kit#39', '[{"path":"kit.tar.zst","sha256":"ab","size":12}]', 1, 2, NULL, 'https://git.example/kit.git');
INSERT INTO versions VALUES (2, 'tool', '2.0.0', 'published', 0, NULL, '0000000000000000000000000000000000000012', 'refs/heads/main', NULL, 'tool#2', '[]', 3, 4, 'acme.tool', 'https://git.example/kit.git');
INSERT INTO tokens VALUES ('root', 'admin', 'hash', 1, NULL, NULL);
INSERT INTO tokens VALUES ('team', 'operator', 'h-team', 1, NULL, '["kit","tools-*"]');
INSERT INTO reruns VALUES (3, 2, 'ann', 899, 1, 'KitTests', 0, '{"endedAt":898,"hasFailedTrigger":false,"startedAt":897,"verdict":"test-failures"}');
INSERT INTO test_names VALUES (1, 1, 'KitTests', 'testOne');
INSERT INTO test_names VALUES (2, 1, 'KitTests', 'testTwo');
INSERT INTO test_names VALUES (3, 1, '', 'testOne');
INSERT INTO test_profiles VALUES (1, 1, 'debug', X'0100030B0B00010103030001010102010505CE3A983A002020010D54657374732F622E7377696674010201000D6E6F74206F6E204C696E7578');
INSERT INTO test_records VALUES (1, NULL, X'0100030B0B00010103030001010102010505CE3A983A002020010D54657374732F622E7377696674010201000D6E6F74206F6E204C696E7578');
INSERT INTO test_rows VALUES (1, 1, 2, 'failed', NULL, 1234567, 'expected 1', 'Tests/a.swift', 7);
INSERT INTO silences VALUES (2, 'f2', 'known since spring', 'ann', 1000, NULL);
INSERT INTO coverage VALUES (1, 1, 3, 4, NULL, NULL, NULL, NULL, X'01011515000F536F75726365732F612E737769667405010000');
INSERT INTO pull_requests VALUES (1, 7, 'refs/pull/7/merge', 'refs/pull/7/head', 'main', 1, 950, 0, '0000000000000000000000000000000000000013', 'feature', 2, 0, NULL, NULL, NULL, NULL, 1795742951000, NULL, NULL);
INSERT INTO pull_requests VALUES (1, 8, 'refs/pull/8/merge', 'refs/pull/8/head', 'main', 0, 940, 0, NULL, NULL, 1, 0, NULL, NULL, NULL, NULL, 1795742951000, 1795742951000, NULL);
INSERT INTO pull_approvals VALUES (2, 7, 'main', '0000000000000000000000000000000000000013', 'ann', 960);
INSERT INTO outbox VALUES (1, 'status', 'https://api.github.example', 'github', 'kit/0000000000000000000000000000000000000011', 1, 'kit', 41, NULL, '{"at":1002,"commit":"0000000000000000000000000000000000000011","hasBegun":false,"hasFailedTrigger":false,"moment":"completed","ref":"refs/heads/main","run":1,"verdict":"warnings"}', 'waiting', 1, 0, 2000, 'the server answered 502', 1002, 1003, NULL);
INSERT INTO standings VALUES (1, 'refs/heads/main', 1, 41, NULL, NULL);
INSERT INTO standings VALUES (2, 'refs/heads/release/1.4', 0, 1, 1, 1);
INSERT INTO comments VALUES ('tool', 7, 'https://api.github.example', 'acme/kit', 4711);
INSERT INTO schedules VALUES (1, '0 3 * * * Europe/Berlin', 1000);
INSERT INTO toolchains VALUES (1, '6.2', '6.2.1', 'refs/heads/main');
INSERT INTO pull_silences VALUES (2, 7, 'f4', 'not ours', 'ann', 1000, 9000);
INSERT INTO downloads VALUES ('kit', '1.4.0', 'kit.tar.zst', 3);
INSERT INTO removals VALUES (2, 5, 1000, 'it is older than 30 days');
INSERT INTO retention_clock VALUES (1, 1000);
INSERT INTO newest_of_refs VALUES (1, 'refs/heads/main', 2);
INSERT INTO newest_of_refs VALUES (2, 'refs/heads/main', 6);
INSERT INTO newest_of_refs VALUES (2, 'refs/heads/release/1.4', 4);
INSERT INTO sessions VALUES (1, '5a1b', 'root', 'root', NULL, NULL, NULL, 1767225600000, 1767229200000);
INSERT INTO sessions VALUES (2, '5a1c', 'ann@acme.example', NULL, 'https://id.acme.example', 'ann@acme.example', '["ci","staff"]', 1767225600000, 1767225600000);
INSERT INTO log_places VALUES (1, 0, 12, 'test-failure', 'KitTests/testTwo', NULL, NULL);
INSERT INTO log_places VALUES (1, 1, 3, 'warning', 'variable ''a'' was never used', 'Sources/Kit/A.swift', 7);
INSERT INTO audit VALUES (1, 1772366400000, 'token-created', 'ann', '192.0.2.7', NULL, 'nightly', 'operator');
INSERT INTO audit VALUES (2, 1772366401000, 'canceled', 'bob', NULL, 'kit', 'kit#41', NULL);
INSERT INTO conditions VALUES (1, 'delivery', 'mail', 'refused', 'correct the settings', 1772366400000, NULL, 1772366401000, NULL, NULL, NULL);
INSERT INTO probes VALUES (1, 1772366400000);
INSERT INTO pauses VALUES (1, 'pause', 1, NULL, 'the disk is replaced', 'ann', 1000);
INSERT INTO pauses VALUES (2, 'drain', NULL, 'b1b2', NULL, 'ann', 2000);
INSERT INTO former_bots VALUES ('earlier', 1, 7, 1000, 1);
INSERT INTO former_bots VALUES ('gone', NULL, 3, 1000, 1);
INSERT INTO lost_versions VALUES ('kit', '1.4.9', 'ann', 1000);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES ('audit', 2);
INSERT INTO sqlite_sequence VALUES ('conditions', 1);
INSERT INTO sqlite_sequence VALUES ('deliveries', 2);
INSERT INTO sqlite_sequence VALUES ('integrations', 7);
INSERT INTO sqlite_sequence VALUES ('outbox', 1);
INSERT INTO sqlite_sequence VALUES ('ref_updates', 1);
INSERT INTO sqlite_sequence VALUES ('sessions', 2);
CREATE UNIQUE INDEX deliveries_by_id ON deliveries (hook, delivery_id) WHERE delivery_id IS NOT NULL;
CREATE INDEX deliveries_pending ON deliveries (repository, request) WHERE fate = 'pending';
CREATE UNIQUE INDEX integrations_by_update ON integrations (bot, ref_update) WHERE ref_update IS NOT NULL;
CREATE INDEX integrations_by_update_alone ON integrations (ref_update) WHERE ref_update IS NOT NULL;
CREATE INDEX integrations_open ON integrations (state, id) WHERE state <> 'completed';
CREATE INDEX integrations_by_bot ON integrations (bot);
CREATE UNIQUE INDEX versions_by_commit ON versions (product, branch, "commit") WHERE branch IS NOT NULL;
CREATE INDEX test_profiles_by_job ON test_profiles (bot, job);
CREATE INDEX test_records_by_profile ON test_records (profile) WHERE profile IS NOT NULL;
CREATE INDEX test_rows_by_test ON test_rows (test, attempt);
CREATE INDEX issues_by_fingerprint ON issues (fingerprint, integration);
CREATE INDEX test_rows_changed ON test_rows (attempt) WHERE (outcome = 'flaky' OR before = 'passed' AND outcome IN ('failed', 'crashed')
    OR before IN ('failed', 'crashed') AND outcome = 'passed');
CREATE INDEX pull_requests_open ON pull_requests (repository) WHERE is_open = 1;
CREATE INDEX integrations_by_pull_request ON integrations (bot, pull_request) WHERE pull_request IS NOT NULL;
CREATE INDEX outbox_open ON outbox (kind, destination, subject, id) WHERE state IN ('waiting', 'sending');
CREATE INDEX outbox_due ON outbox (kind, destination, account, next_at, id) WHERE state = 'waiting' AND is_first = 1;
CREATE INDEX outbox_age ON outbox (kind, destination, account, created_at) WHERE state = 'waiting';
CREATE INDEX outbox_sending ON outbox (id) WHERE state = 'sending';
CREATE TRIGGER outbox_next AFTER UPDATE OF state ON outbox
WHEN old.state IN ('waiting', 'sending') AND new.state NOT IN ('waiting', 'sending')
BEGIN
    UPDATE outbox SET is_first = 1 WHERE id = (
        SELECT id FROM outbox WHERE kind = new.kind AND destination = new.destination AND subject = new.subject
        AND state IN ('waiting', 'sending') ORDER BY id LIMIT 1) AND is_first = 0;
END;
CREATE INDEX pull_requests_moved ON pull_requests (repository, moved_at) WHERE is_open = 1;
CREATE INDEX pull_requests_closed ON pull_requests (repository, closed_at) WHERE is_open = 0;
CREATE INDEX integrations_removed ON integrations (id) WHERE removed_at IS NOT NULL;
CREATE INDEX integrations_by_newer ON integrations (superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX versions_by_integration ON versions (integration);
CREATE INDEX versions_by_registry ON versions (registry, version, product, state, repository) WHERE registry IS NOT NULL;
CREATE INDEX newest_of_refs_by_age ON newest_of_refs (bot, integration);
CREATE TRIGGER integrations_are_newest AFTER INSERT ON integrations
WHEN new.pull_request IS NULL AND new.removed_at IS NULL BEGIN
    INSERT INTO newest_of_refs (bot, ref, integration) VALUES (new.bot, new.ref, new.id)
    ON CONFLICT (bot, ref) DO UPDATE SET integration = max(integration, excluded.integration);
END;
CREATE TRIGGER integrations_are_hidden AFTER UPDATE OF pull_request, removed_at ON integrations BEGIN
    DELETE FROM newest_of_refs WHERE bot = old.bot AND ref = old.ref;
    INSERT INTO newest_of_refs (bot, ref, integration) SELECT bot, ref, id FROM integrations
        WHERE bot = old.bot AND ref = old.ref AND pull_request IS NULL AND removed_at IS NULL
        ORDER BY number DESC LIMIT 1;
END;
CREATE TRIGGER integrations_are_deleted AFTER DELETE ON integrations
WHEN EXISTS (SELECT 1 FROM newest_of_refs WHERE bot = old.bot AND ref = old.ref AND integration = old.id) BEGIN
    DELETE FROM newest_of_refs WHERE bot = old.bot AND ref = old.ref;
    INSERT INTO newest_of_refs (bot, ref, integration) SELECT bot, ref, id FROM integrations
        WHERE bot = old.bot AND ref = old.ref AND pull_request IS NULL AND removed_at IS NULL
        ORDER BY number DESC LIMIT 1;
END;
CREATE INDEX integrations_queued ON integrations (bot, ref, cause, is_release, run > 1, id) WHERE state = 'queued';
CREATE INDEX issues_shown ON issues (integration, issue_set, status, category, path, line, place);
CREATE INDEX sessions_by_use ON sessions (used_at);
CREATE INDEX sessions_by_person ON sessions (person, used_at);
CREATE INDEX integrations_by_ref ON integrations (bot, ref, number, state, verdict, trigger_failed, is_skipped, removed_at, queued_at,
    started_at, ended_at);
CREATE INDEX integrations_of_ref ON integrations (bot, ref);
CREATE INDEX audit_by_bot ON audit (bot, id) WHERE bot IS NOT NULL;
CREATE TRIGGER audit_not_replaced BEFORE INSERT ON audit WHEN EXISTS (SELECT 1 FROM audit WHERE id = new.id)
BEGIN
    SELECT RAISE(ABORT, 'the audit is append-only');
END;
CREATE TRIGGER audit_unchanged BEFORE UPDATE ON audit
BEGIN
    SELECT RAISE(ABORT, 'the audit is append-only');
END;
CREATE TRIGGER audit_oldest_first BEFORE DELETE ON audit WHEN EXISTS (SELECT 1 FROM audit WHERE id < old.id)
BEGIN
    SELECT RAISE(ABORT, 'only the oldest row of the audit is removed');
END;
CREATE UNIQUE INDEX conditions_open ON conditions (kind, subject) WHERE ended_at IS NULL;
CREATE UNIQUE INDEX pauses_of_service ON pauses (kind) WHERE bot IS NULL;
COMMIT;
