//! The tables. Only ever added to: what a migration once did is history.

use store::sqlite::Schema;
use store::sqlite::rusqlite::params;

pub(super) const SCHEMA: Schema = Schema {
    application: "clai",
    migrations: &[SPECIFIED, FURTHER, LEARNED],
    mirror: Some(|transaction, migrated| {
        let sql = "INSERT INTO schema_migrations(version, applied_ts) VALUES (?1, ?2)";
        transaction.execute(sql, params![migrated.version as i64, migrated.unix_ms]).map(drop)
    }),
};

/// Name by name and column by column as the specification has them.
const SPECIFIED: &str = "
CREATE TABLE session (
  id            TEXT PRIMARY KEY,
  created_at    INTEGER NOT NULL,
  shell         TEXT NOT NULL,
  host          TEXT,
  user          TEXT
);

CREATE TABLE command_event (
  id            INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id    TEXT NOT NULL REFERENCES session(id),
  ts            INTEGER NOT NULL,
  duration_ms   INTEGER,
  exit_code     INTEGER,
  cwd           TEXT NOT NULL,
  repo_key      TEXT,
  branch        TEXT,
  cmd_raw       TEXT NOT NULL,
  cmd_norm      TEXT NOT NULL
);

CREATE INDEX idx_event_ts ON command_event(ts);
CREATE INDEX idx_event_repo_ts ON command_event(repo_key, ts);
CREATE INDEX idx_event_cwd_ts ON command_event(cwd, ts);
CREATE INDEX idx_event_session_ts ON command_event(session_id, ts);
CREATE INDEX idx_event_norm_repo ON command_event(cmd_norm, repo_key);

CREATE TABLE transition (
  scope         TEXT NOT NULL,
  prev_norm     TEXT NOT NULL,
  next_norm     TEXT NOT NULL,
  count         INTEGER NOT NULL,
  last_ts       INTEGER NOT NULL,
  PRIMARY KEY(scope, prev_norm, next_norm)
);

CREATE INDEX idx_transition_prev ON transition(scope, prev_norm);

CREATE TABLE command_score (
  scope         TEXT NOT NULL,
  cmd_norm      TEXT NOT NULL,
  score         REAL NOT NULL,
  last_ts       INTEGER NOT NULL,
  PRIMARY KEY(scope, cmd_norm)
);

CREATE INDEX idx_command_score_scope ON command_score(scope, score DESC);

CREATE TABLE project_task (
  repo_key      TEXT NOT NULL,
  kind          TEXT NOT NULL,
  name          TEXT NOT NULL,
  command       TEXT NOT NULL,
  description   TEXT,
  discovered_ts INTEGER NOT NULL,
  PRIMARY KEY(repo_key, kind, name)
);

CREATE INDEX idx_project_task_repo ON project_task(repo_key);

CREATE TABLE schema_migrations (
  version INTEGER PRIMARY KEY,
  applied_ts INTEGER NOT NULL
);
";

/// Who typed a command that no person typed; what was not kept and why; what became of suggestions; what must survive
/// a restart of the daemon, such as a pause.
const FURTHER: &str = "
CREATE TABLE event_actor (
  event_id      INTEGER PRIMARY KEY REFERENCES command_event(id) ON DELETE CASCADE,
  actor         TEXT NOT NULL
);

CREATE TABLE left_out (
  reason        TEXT NOT NULL,
  detail        TEXT NOT NULL,
  count         INTEGER NOT NULL,
  last_ts       INTEGER NOT NULL,
  PRIMARY KEY(reason, detail)
) WITHOUT ROWID;

CREATE TABLE feedback (
  id            INTEGER PRIMARY KEY,
  ts            INTEGER NOT NULL,
  action        TEXT NOT NULL,
  cmd_raw       TEXT NOT NULL
);

CREATE TABLE state (
  name          TEXT PRIMARY KEY,
  value         INTEGER NOT NULL
) WITHOUT ROWID;
";

/// What was learned and is no count. And how far commands are learned in the order of time, see
/// [`super::Database::replay`]: until now all were.
const LEARNED: &str = "
CREATE TABLE learned (
  name          TEXT PRIMARY KEY,
  value         BLOB NOT NULL
) WITHOUT ROWID;

INSERT INTO state(name, value) SELECT 'sorted_to', coalesce(max(id), 0) FROM command_event;
";
