#!/usr/bin/env python3
"""Prints the database of schema version N, as SQL: next.py N [ROWS.sql] > NNNN.sql

It loads the database of version N-1 from this directory, runs migration N of Sources/Storage/Schema/schema.sql, and then ROWS.sql, which adds
rows to the tables and columns that are new. For a migration with a Swift part, ROWS.sql does what that part does.
"""
import re
import sqlite3
import sys
from pathlib import Path

here = Path(__file__).resolve().parent
schema = here.parents[2] / "Sources/Storage/Schema/schema.sql"


def migration(number):
    """Returns the identifier and the SQL of a migration."""
    text = schema.read_text()
    found = re.search(rf"^-- {number:04} ([^:\n]+): .*\n((?:.*\n)*?)(?=-- \d{{4}} |\Z)", text, re.M)
    return found[1], found[2]


def dump(db):
    """Yields the statements that make the database."""
    yield "PRAGMA foreign_keys = OFF;"
    yield "BEGIN;"
    objects = db.execute("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid").fetchall()
    tables = [(name, sql) for kind, name, sql in objects if kind == "table" and name != "sqlite_sequence"]
    for _, sql in tables:
        yield sql + ";"
    for name in [name for name, _ in tables] + ["sqlite_sequence"]:
        columns = [f'"{row[1]}"' for row in db.execute(f"PRAGMA table_info({name})")]
        quoted = " || ', ' || ".join(f"quote({column})" for column in columns)
        if name == "sqlite_sequence":
            yield "DELETE FROM sqlite_sequence;"
        for (values,) in db.execute(f"SELECT {quoted} FROM {name} ORDER BY {', '.join(columns)}"):
            yield f"INSERT INTO {name} VALUES ({values});"
    for kind, _, sql in objects:
        if kind != "table":
            yield sql + ";"
    yield "COMMIT;"


number = int(sys.argv[1])
db = sqlite3.connect(":memory:", isolation_level=None)
if number > 1:
    db.executescript((here / f"{number - 1:04}.sql").read_text())
else:
    db.execute("CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
db.execute("PRAGMA foreign_keys = ON")
identifier, sql = migration(number)
db.executescript(sql)
if len(sys.argv) > 2:
    db.executescript(Path(sys.argv[2]).read_text())
db.execute("INSERT INTO grdb_migrations VALUES (?)", [identifier])
damage = db.execute("PRAGMA foreign_key_check").fetchall()
if damage:
    sys.exit(f"{damage} refer to rows that are not there; add those to {sys.argv[2]}")
print("\n".join(dump(db)))
