"""The recording as SQLite sees it: one session a file, one writer.

The SQL of the current version is run with the standard library, because a
stand-in must start fast; sqlite-utils comes in when a file needs a migration.

The frames of a session are a contiguous range of the frame table's primary
key: ``seq = key - session.base``. So a file can hold several sessions, each
counted from 1, and a window of the log is one search by primary key.

Sizes matter: a row is small integers where values repeat, times relative to
the session's start, and the body itself up to ``INLINE_BODY`` bytes.
"""

from __future__ import annotations

import sqlite3

#: "MCPw" read as a big-endian integer: says that a SQLite file is a recording.
APPLICATION_ID = 0x4D435077

#: The version of the tables below.
VERSION = 2

#: The version of the rules that findings come from, so that old ones are known as such.
FINDINGS_VERSION = 1

#: Bodies up to this size stand in the frame's row, larger ones in parts.
INLINE_BODY = 4096

#: The size of a part of a body above this size. SQLite refuses values above 1 GB.
PART_BYTES = 1 << 20

#: The size of a part of a body below it: four of them fill a page, so that little is wasted.
SMALL_PART_BYTES = 4000

#: Pages of 16 KiB hold several rows of a few KiB each; with SQLite's 4 KiB half of a page stays empty.
PAGE_BYTES = 16384

TABLES = """
CREATE TABLE session (
  number INTEGER PRIMARY KEY,
  base INTEGER NOT NULL,
  name TEXT NOT NULL,
  "group" TEXT,
  started_ns INTEGER NOT NULL,
  mono_ns INTEGER NOT NULL,
  ended_ns INTEGER,
  ended_how TEXT,
  product TEXT NOT NULL,
  origin TEXT NOT NULL,
  note TEXT,
  tags TEXT
);
CREATE TABLE connection (
  session INTEGER NOT NULL,
  number INTEGER NOT NULL,
  name TEXT NOT NULL,
  transport TEXT NOT NULL,
  target TEXT NOT NULL,
  era TEXT,
  era_found TEXT,
  revision TEXT,
  client_info TEXT,
  server_info TEXT,
  client_capabilities TEXT,
  server_capabilities TEXT,
  opened_ns INTEGER NOT NULL,
  closed_ns INTEGER,
  closed_how TEXT,
  exit_code INTEGER,
  parent INTEGER,
  PRIMARY KEY (session, number)
) WITHOUT ROWID;
CREATE TABLE word (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE frame (
  key INTEGER PRIMARY KEY,
  connection INTEGER NOT NULL,
  wall INTEGER NOT NULL,
  mono INTEGER NOT NULL,
  direction INTEGER NOT NULL,
  channel INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  method INTEGER,
  name INTEGER,
  id TEXT,
  size INTEGER NOT NULL,
  ending INTEGER NOT NULL,
  stream INTEGER,
  event TEXT,
  spans TEXT,
  stored INTEGER,
  body BLOB NOT NULL
);
CREATE TABLE body (key INTEGER NOT NULL, part INTEGER NOT NULL, data BLOB NOT NULL,
  PRIMARY KEY (key, part)) WITHOUT ROWID;
CREATE TABLE message (key INTEGER NOT NULL, item INTEGER NOT NULL, kind INTEGER NOT NULL,
  method TEXT, id TEXT, PRIMARY KEY (key, item)) WITHOUT ROWID;
CREATE TABLE pair (answer INTEGER PRIMARY KEY, request INTEGER NOT NULL);
CREATE INDEX pair_request ON pair (request);
CREATE TABLE stream (
  session INTEGER NOT NULL, number INTEGER NOT NULL, connection INTEGER NOT NULL, verb TEXT, url TEXT,
  status INTEGER, encoding TEXT, wire_bytes INTEGER, request_headers TEXT, response_headers TEXT,
  opened_ns INTEGER, closed_ns INTEGER, closed_how TEXT, PRIMARY KEY (session, number)) WITHOUT ROWID;
CREATE TABLE rule (session INTEGER NOT NULL, number INTEGER NOT NULL, what TEXT NOT NULL, value TEXT NOT NULL,
  PRIMARY KEY (session, number)) WITHOUT ROWID;
CREATE TABLE mark (key INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE provenance (key INTEGER PRIMARY KEY, how TEXT NOT NULL, detail TEXT);
"""

#: Tables that can be thrown away and made again from the bodies.
DERIVED = """
CREATE TABLE exchange (request INTEGER PRIMARY KEY, answer INTEGER, method TEXT, name TEXT, hash TEXT,
  detail TEXT);
CREATE TABLE finding (key INTEGER NOT NULL, item INTEGER NOT NULL, rule TEXT NOT NULL, severity TEXT NOT NULL,
  pointer TEXT, version INTEGER NOT NULL, PRIMARY KEY (key, item)) WITHOUT ROWID;
CREATE TABLE checkpoint (key INTEGER PRIMARY KEY, version INTEGER NOT NULL, fold BLOB NOT NULL);
"""


def create(db: sqlite3.Connection) -> None:
    """Make the tables of the current version in an empty database. The transaction is left open for
    the first rows: who waits for a recording to begin waits for one write to the disk, not two."""
    db.executescript(
        f"BEGIN; PRAGMA application_id={APPLICATION_ID}; PRAGMA user_version={VERSION};{TABLES}{DERIVED}"
    )
