import GRDB

/// The tables, and the migrations from every earlier version. Migrations only go forward. Each is atomic and never changed once it is released.
enum Schema {
    /// Checks the file without writing to it, so that a file of a newer version stays unchanged, byte for byte.
    /// - Throws: A refusal with `newerSchema` if the file has a migration that this version does not know.
    static func refuseNewer(_ path: String, _ configuration: Configuration) throws {
        var configuration = configuration
        configuration.readonly = true
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        let isNewer = try queue.read(migrator.hasBeenSuperseded)
        try queue.close()
        guard !isNewer else {
            throw Refusal(
                code: .newerSchema,
                message: "it was written by a newer version of Martlet; install that version or restore an older backup"
            )
        }
    }

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { try $0.execute(sql: version1) }
        migrator.registerMigration("2") { try $0.execute(sql: version2) }
        migrator.registerMigration("isolation") { try $0.execute(sql: isolation) }
        migrator.registerMigration("test records", migrate: addTestRecords)
        migrator.registerMigration("issues") { try $0.execute(sql: issues) }
        migrator.registerMigration("finders") { try $0.execute(sql: finders) }
        migrator.registerMigration("found") { try $0.execute(sql: found) }
        migrator.registerMigration("coverage") { try $0.execute(sql: coverage) }
        migrator.registerMigration("pull requests") { try $0.execute(sql: pullRequests) }
        migrator.registerMigration("outbox") { try $0.execute(sql: outbox) }
        migrator.registerMigration("standings") { try $0.execute(sql: standings) }
        migrator.registerMigration("comments") { try $0.execute(sql: comments) }
        migrator.registerMigration("schedules") { try $0.execute(sql: schedules) }
        migrator.registerMigration("skipping") { try $0.execute(sql: skipping) }
        migrator.registerMigration("toolchains") { try $0.execute(sql: toolchains) }
        migrator.registerMigration("registry") { try $0.execute(sql: registry) }
        migrator.registerMigration("pull care") { try $0.execute(sql: pullCare) }
        migrator.registerMigration("downloads") { try $0.execute(sql: downloads) }
        migrator.registerMigration("returning") { try $0.execute(sql: returning) }
        migrator.registerMigration("retention") { try $0.execute(sql: retention) }
        migrator.registerMigration("origins") { try $0.execute(sql: origins) }
        migrator.registerMigration("trigger versions") { try $0.execute(sql: triggerVersions) }
        migrator.registerMigration("lists") { try $0.execute(sql: lists) }
        return migrator
    }

    /// An attempt's isolation from the machine: `sandbox`, or `none: ` and the reason. Attempts before this migration had none, and their value is
    /// NULL.
    private static let isolation = "ALTER TABLE attempts ADD COLUMN isolation TEXT"

    /// Times are milliseconds since 1970 (UTC), truth values are 0 and 1, commits and names are their text. Columns that hold JSON are never
    /// searched.
    static let version1 = """
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
        """
}
