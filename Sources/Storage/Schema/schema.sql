-- The schema, as the migrations that lead to it. A line such as `-- 0007 found: …` begins a migration: its number, the identifier under which
-- GRDB records it in a database, and what it does. `Migrations.swift` registers them in this order and runs their Swift parts.
--
-- A migration never changes once it has landed, because databases have run it: what is wrong is changed by another migration. SQLite stores each
-- statement as it is written here, with its comments and spaces.

-- 0001 1: add bots, the ledger, integrations, their results, versions and tokens
-- Times are milliseconds since 1970 (UTC), truth values are 0 and 1, commits and names are their text. Columns that hold JSON are never searched.
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
) STRICT;

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
) STRICT;
CREATE UNIQUE INDEX deliveries_by_id ON deliveries (hook, delivery_id) WHERE delivery_id IS NOT NULL;
CREATE INDEX deliveries_pending ON deliveries (repository, request) WHERE fate = 'pending';

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
    ended_at INTEGER,
    UNIQUE (bot, number),
    CHECK ((state = 'completed') = (verdict IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX integrations_by_update ON integrations (bot, ref_update) WHERE ref_update IS NOT NULL;
CREATE INDEX integrations_by_update_alone ON integrations (ref_update) WHERE ref_update IS NOT NULL;
CREATE INDEX integrations_open ON integrations (state, id) WHERE state <> 'completed';
CREATE INDEX integrations_by_bot ON integrations (bot);
CREATE INDEX integrations_by_ref ON integrations (bot, ref, number);

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
    ended_at INTEGER,
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
    "column" INTEGER,
    PRIMARY KEY (attempt, place)
) STRICT, WITHOUT ROWID;

CREATE TABLE tests (
    attempt INTEGER NOT NULL REFERENCES attempts(id),
    place INTEGER NOT NULL,
    suite TEXT NOT NULL,
    name TEXT NOT NULL,
    outcome TEXT NOT NULL,
    duration INTEGER,                     -- microseconds
    message TEXT,
    path TEXT,
    line INTEGER,
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
    configurations TEXT NOT NULL,         -- JSON
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
    log TEXT,
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
    published_at INTEGER,
    UNIQUE (product, version),
    CHECK ((state = 'published') = (published_at IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX versions_by_commit ON versions (product, branch, "commit") WHERE branch IS NOT NULL;

CREATE TABLE tokens (
    name TEXT NOT NULL PRIMARY KEY,
    role TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
) STRICT, WITHOUT ROWID;

-- 0002 2: add the runs of an integration
-- A rerun adds a run, with its own attempts and triggers beside the earlier ones. Also the newer integration that ended one, and the bot's
-- specification when a run began.
ALTER TABLE integrations ADD COLUMN run INTEGER NOT NULL DEFAULT 1;
ALTER TABLE integrations ADD COLUMN superseded_by INTEGER REFERENCES integrations(id);
ALTER TABLE integrations ADD COLUMN specification TEXT; -- JSON; the bot's, of the latest run
ALTER TABLE attempts ADD COLUMN run INTEGER NOT NULL DEFAULT 1;
ALTER TABLE attempts ADD COLUMN test_filter TEXT;
ALTER TABLE triggers ADD COLUMN run INTEGER NOT NULL DEFAULT 1;

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

-- 0003 isolation: add an attempt's isolation from the machine
-- `sandbox`, or `none: ` and the reason. Attempts before this migration had none, and their value is NULL.
ALTER TABLE attempts ADD COLUMN isolation TEXT;

-- 0004 test records: keep an attempt's tests in one compressed record
-- A record per attempt (`TestRecord`), and rows for tests that did not pass or have changed. `Schema.convertTests` then converts the rows of the
-- table `tests`, and drops it.
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
CREATE INDEX test_profiles_by_job ON test_profiles (bot, job);

CREATE TABLE test_records (
    attempt INTEGER PRIMARY KEY REFERENCES attempts(id),
    profile INTEGER REFERENCES test_profiles(id),
    record BLOB NOT NULL
) STRICT;
CREATE INDEX test_records_by_profile ON test_records (profile) WHERE profile IS NOT NULL;

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
CREATE INDEX test_rows_by_test ON test_rows (test, attempt);

-- 0005 issues: keep issues through renames and moved code, and add silences
-- The content key of findings and issues does not depend on their place. Issues also get the first integration, the author and the silence.
ALTER TABLE findings ADD COLUMN content TEXT NOT NULL DEFAULT '';
ALTER TABLE issues ADD COLUMN content TEXT NOT NULL DEFAULT '';
ALTER TABLE issues ADD COLUMN since INTEGER;      -- number of the integration
ALTER TABLE issues ADD COLUMN introduced_by TEXT; -- JSON
ALTER TABLE issues ADD COLUMN silence TEXT;       -- JSON; as it was when the issues were compared, or set since

CREATE TABLE silences (
    bot INTEGER NOT NULL REFERENCES bots(id),
    fingerprint TEXT NOT NULL,
    reason TEXT NOT NULL,
    person TEXT NOT NULL,
    at INTEGER NOT NULL,
    expires INTEGER,
    PRIMARY KEY (bot, fingerprint)
) STRICT, WITHOUT ROWID;

-- 0006 finders: add the step that found an issue
-- The kind of step that found a finding or an issue; NULL if an older version stored it, or no step did.
ALTER TABLE findings ADD COLUMN step TEXT;
ALTER TABLE issues ADD COLUMN step TEXT;

-- 0007 found: find issues by fingerprint, and changed tests
-- Silencing finds an issue by its fingerprint. The list of flaky tests finds changed tests without reading other failures: the condition of the
-- second index is `Store.hasChangedOrIsFlaky`, word for word.
CREATE INDEX issues_by_fingerprint ON issues (fingerprint, integration);
CREATE INDEX test_rows_changed ON test_rows (attempt) WHERE (outcome = 'flaky' OR before = 'passed' AND outcome IN ('failed', 'crashed')
    OR before IN ('failed', 'crashed') AND outcome = 'passed');

-- 0008 coverage: add coverage
-- The coverage of attempts: its totals, and one compressed record of its files (`CoverageRecord`).
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

-- 0009 pull requests: add pull requests and approvals
-- Pull requests that events announced, the approvals of their commits, and the columns that connect an integration to its pull request.
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
    generation INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (repository, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX pull_requests_open ON pull_requests (repository) WHERE is_open = 1;

CREATE TABLE pull_approvals (
    bot INTEGER NOT NULL REFERENCES bots(id),
    number INTEGER NOT NULL,
    base TEXT NOT NULL,
    head TEXT NOT NULL,
    person TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (bot, number, base, head)
) STRICT, WITHOUT ROWID;

ALTER TABLE deliveries ADD COLUMN pull_request INTEGER; -- its number

ALTER TABLE integrations ADD COLUMN pull_request INTEGER; -- its number
ALTER TABLE integrations ADD COLUMN pull_place TEXT;
ALTER TABLE integrations ADD COLUMN base TEXT;
ALTER TABLE integrations ADD COLUMN base_commit TEXT;
ALTER TABLE integrations ADD COLUMN head TEXT;
ALTER TABLE integrations ADD COLUMN source TEXT;          -- NULL: a fork's
ALTER TABLE integrations ADD COLUMN approved_by TEXT;
ALTER TABLE integrations ADD COLUMN unmerged TEXT;        -- why the head alone is integrated
CREATE INDEX integrations_by_pull_request ON integrations (bot, pull_request) WHERE pull_request IS NOT NULL;

-- 0010 outbox: add the outbox
-- The messages to external services. A row is stored with the change that caused it. It names its integration by text, so that no foreign key
-- keeps that from being deleted, and it contains no secret.
ALTER TABLE bots ADD COLUMN destinations TEXT NOT NULL DEFAULT '[]'; -- JSON

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

-- 0011 standings: add the health of branches
-- The health of each branch and tag of a bot, for bots that send notices (`BranchHealth`).
CREATE TABLE standings (
    bot INTEGER NOT NULL REFERENCES bots(id),
    ref TEXT NOT NULL,
    is_good INTEGER NOT NULL,
    number INTEGER NOT NULL,              -- the integration's that says so
    broken_number INTEGER,
    broken_run INTEGER,
    PRIMARY KEY (bot, ref)
) STRICT, WITHOUT ROWID;

-- 0012 comments: add comments on pull requests
-- The single comment of a bot on a pull request.
CREATE TABLE comments (
    bot TEXT NOT NULL,
    number INTEGER NOT NULL,              -- the pull request's
    destination TEXT NOT NULL,
    project TEXT NOT NULL,
    comment INTEGER NOT NULL,             -- as the forge counts
    PRIMARY KEY (bot, number, destination, project)
) STRICT, WITHOUT ROWID;

-- 0013 schedules: add schedules
-- The time up to which each bot's schedule has been handled.
CREATE TABLE schedules (
    bot INTEGER NOT NULL PRIMARY KEY REFERENCES bots(id),
    schedule TEXT NOT NULL,               -- times and zone, so that another schedule begins anew
    taken_up INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- 0014 skipping: add skipped integrations
-- Whether an integration was skipped because of its bot's `paths` or a word in its commit's message. Such an integration is canceled.
ALTER TABLE integrations ADD COLUMN is_skipped INTEGER NOT NULL DEFAULT 0;

-- 0015 toolchains: add toolchains
-- The version of the machine's toolchain for which each bot's branch tips were integrated last.
CREATE TABLE toolchains (
    bot INTEGER NOT NULL PRIMARY KEY REFERENCES bots(id),
    version TEXT NOT NULL,
    next TEXT,                            -- the one for which they are being queued
    reached TEXT                          -- up to which ref, in order of name
) STRICT, WITHOUT ROWID;

-- 0016 registry: add the names of package registries
-- A version's name in the package registry, where upper and lower case are the same.
ALTER TABLE versions ADD COLUMN registry TEXT COLLATE NOCASE;
CREATE INDEX versions_by_registry ON versions (registry) WHERE registry IS NOT NULL;

-- 0017 pull care: follow pull requests without events
-- The facts about a pull request that a scan finds without an event, the order of events of the same time, and the integrations to end.
ALTER TABLE pull_requests ADD COLUMN told_rank INTEGER NOT NULL DEFAULT 0; -- orders events of one time, see PullRequestStand
ALTER TABLE pull_requests ADD COLUMN base_before TEXT;  -- the base that an event of told_at took away
ALTER TABLE pull_requests ADD COLUMN base_tip TEXT;     -- its base's tip in the look that first saw this head for this base
ALTER TABLE pull_requests ADD COLUMN judged_tip TEXT;   -- the tip in which the head was last looked for
ALTER TABLE pull_requests ADD COLUMN missing_since INTEGER; -- the first look in a row that did not list the head
ALTER TABLE pull_requests ADD COLUMN moved_at INTEGER NOT NULL DEFAULT 0; -- the last event, or another head
ALTER TABLE pull_requests ADD COLUMN closed_at INTEGER;
ALTER TABLE pull_requests ADD COLUMN closed_reason TEXT; -- NULL: by an event
UPDATE pull_requests SET moved_at = CAST(strftime('%s', 'now') AS INTEGER) * 1000;
UPDATE pull_requests SET closed_at = moved_at WHERE is_open = 0;
CREATE INDEX pull_requests_moved ON pull_requests (repository, moved_at) WHERE is_open = 1;
CREATE INDEX pull_requests_closed ON pull_requests (repository, closed_at) WHERE is_open = 0;

ALTER TABLE integrations ADD COLUMN ending_run INTEGER; -- the run that is to end and may still go on

ALTER TABLE deliveries ADD COLUMN tries INTEGER NOT NULL DEFAULT 0; -- looks that did not find what it tells of
ALTER TABLE deliveries ADD COLUMN awaited TEXT;         -- what it waits for meanwhile

DELETE FROM standings WHERE ref GLOB 'refs/pull/*/merge'; -- nobody is told of them

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

-- 0018 downloads: count downloads
-- The number of downloads of each published file.
CREATE TABLE downloads (
    product TEXT NOT NULL,
    version TEXT NOT NULL,
    path TEXT NOT NULL,
    count INTEGER NOT NULL CHECK (count > 0),
    PRIMARY KEY (product, version, path)
) STRICT, WITHOUT ROWID;

-- 0019 returning: mark bots that return
-- Marks bots whose files were missing: other bots' scans may have stored the movements of that time.
ALTER TABLE bots ADD COLUMN is_returning INTEGER NOT NULL DEFAULT 0;

-- 0020 retention: add removals and disk use
-- The removals by retention, which pages show; the disk use of each integration; and the time up to which age is counted.
ALTER TABLE integrations ADD COLUMN removed_at INTEGER; -- since then it is shown nowhere, and its rows and files go
ALTER TABLE integrations ADD COLUMN disk_run INTEGER;   -- the run after which its files were measured
ALTER TABLE integrations ADD COLUMN disk_bytes INTEGER;
ALTER TABLE integrations ADD COLUMN disk_files INTEGER;
CREATE INDEX integrations_removed ON integrations (id) WHERE removed_at IS NOT NULL;
-- Whoever deletes an integration asks for those that name it.
CREATE INDEX integrations_by_newer ON integrations (superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX versions_by_integration ON versions (integration);

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

-- 0021 origins: add a version's repository
-- The repository of each version's commit. A bot can get another repository, and its earlier versions still belong to the first. Existing
-- versions therefore get their integration's repository; if that row is gone, they get the bot's current one.
ALTER TABLE versions ADD COLUMN repository TEXT;
UPDATE versions SET repository = coalesce(
    (SELECT url FROM integrations JOIN bots ON bots.id = integrations.bot
        JOIN repositories ON repositories.id = integrations.repository
        WHERE bots.name = substr(integration, 1, instr(integration, '#') - 1)
        AND integrations.number = CAST(substr(integration, instr(integration, '#') + 1) AS INTEGER)),
    (SELECT url FROM bots JOIN repositories ON repositories.id = bots.repository
        WHERE bots.name = substr(integration, 1, instr(integration, '#') - 1)));
DROP INDEX versions_by_registry;
CREATE INDEX versions_by_registry ON versions (registry, version, product, state, repository) WHERE registry IS NOT NULL;

-- 0022 trigger versions: add the version that a trigger published
-- Later uploads send that version, also after a restart.
ALTER TABLE triggers ADD COLUMN version TEXT;

-- 0023 lists: read lists and pages without reading all rows
-- `newest_of_refs` has the newest integration of each branch and tag of a bot, without those of pull requests and those that retention removed.
-- Triggers of the database keep it right, so that no statement that adds or removes an integration can forget it.
CREATE TABLE newest_of_refs (
    bot INTEGER NOT NULL REFERENCES bots(id),
    ref TEXT NOT NULL,
    integration INTEGER NOT NULL,
    PRIMARY KEY (bot, ref)
) STRICT, WITHOUT ROWID;
CREATE INDEX newest_of_refs_by_age ON newest_of_refs (bot, integration);
INSERT INTO newest_of_refs SELECT bot, ref, max(id) FROM integrations
    WHERE pull_request IS NULL AND removed_at IS NULL GROUP BY bot, ref;

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

-- The scheduler asks for the oldest of each ref at each of its choices.
CREATE INDEX integrations_queued ON integrations (bot, ref, cause, is_release, run > 1, id) WHERE state = 'queued';
-- A page of issues, in its order, whatever the number of others.
CREATE INDEX issues_shown ON issues (integration, issue_set, status, category, path, line, place);

-- 0024 sessions: add the sessions of people who signed in with a browser
-- The cookie's secret is not stored, only its SHA-256. A session by a token has the token's role, and ends with it. A session by an OpenID Connect
-- provider keeps what the provider said about the person, and the settings give the role.
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
CREATE INDEX sessions_by_use ON sessions (used_at);
CREATE INDEX sessions_by_person ON sessions (person, used_at);

-- 0025 branches: add where branches began and since when bots are gone, and read a branch's results from an index alone
-- A branch's first integration is compared with that of the nearest commit before it that its bot had integrated. `parted_from` has that
-- integration's number. `retired_at` is when a bot's file was found missing; NULL for a bot with a file.
ALTER TABLE integrations ADD COLUMN parted_from INTEGER;
ALTER TABLE bots ADD COLUMN retired_at INTEGER;
UPDATE bots SET retired_at = 0 WHERE is_retired = 1;
-- Pages show the last results of many branches. Their integrations can have thousands of bytes of JSON, which this index does not read.
DROP INDEX integrations_by_ref;
CREATE INDEX integrations_by_ref ON integrations (bot, ref, number, state, verdict, trigger_failed, is_skipped, removed_at, queued_at,
    started_at, ended_at);
-- A list of a branch's integrations is in the order of their rows.
CREATE INDEX integrations_of_ref ON integrations (bot, ref);

-- 0026 log places: add the lines of logs that findings and failing tests are about
-- Found when an attempt is read. Attempts of older versions have none.
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

-- 0027 audit: add who did what, and the troubles that operators hear of
-- Rows are only appended. Retention removes the oldest ones (`AuditLimits`).
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
-- The troubles of the service (`ServiceCondition`). A row is open until `ended_at`; the other times are those of its messages.
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
CREATE UNIQUE INDEX conditions_open ON conditions (kind, subject) WHERE ended_at IS NULL;
-- One row, which is written to see whether the database can be written.
CREATE TABLE probes (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    at INTEGER NOT NULL
) STRICT;

-- 0028 control: add pauses, and the earlier names of bots
-- While a row is here, nothing new starts: of its bot, or of any bot where it has none. `publishing` holds publications alone. `boot` is the boot of
-- the machine that a drain was asked for; the first start in another boot ends it.
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
CREATE UNIQUE INDEX pauses_of_service ON pauses (kind) WHERE bot IS NULL;

-- The names that bots had before they were renamed or deleted, so that pages lead on and no number is used twice.
CREATE TABLE former_bots (
    name TEXT NOT NULL PRIMARY KEY,
    bot INTEGER REFERENCES bots(id),       -- NULL: deleted
    last_number INTEGER NOT NULL,
    at INTEGER NOT NULL,
    is_settled INTEGER NOT NULL            -- whether its files have the bot's present name
) STRICT, WITHOUT ROWID;
-- The versions that were published after the backup that was restored was made, by what an operator says. No other bytes get their numbers.
CREATE TABLE lost_versions (
    product TEXT NOT NULL,
    version TEXT NOT NULL,
    person TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (product, version)
) STRICT, WITHOUT ROWID;
ALTER TABLE bots ADD COLUMN deleted_at INTEGER; -- since then it is shown nowhere, and its rows and files go

-- 0029 scopes: limit tokens to bots
ALTER TABLE tokens ADD COLUMN bots TEXT;   -- names and patterns as JSON; NULL: every bot, and the service as a whole
