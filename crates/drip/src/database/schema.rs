//! The tables, as the seed names them, with the company they gained: `deliveries` is the truth about what was sent, and
//! `reads` its newest line for each file. Knows SQL and nothing of its use.
//!
//! Every read writes, and every page it touches is read again by whoever opens the store next: so what only people ask
//! for (events, deliveries) has no index.

use store::sqlite::Schema;

pub(super) const SCHEMA: Schema = Schema {
    application: "drip",
    migrations: &[FIRST],
    mirror: Some(|transaction, migrated| {
        // The seed's own version table; ours counts on from where it ended.
        let version = 11 + migrated.version - 1;
        transaction
            .execute("INSERT OR REPLACE INTO meta VALUES ('schema_version', ?1)", [version.to_string()])
            .map(drop)
    }),
};

const FIRST: &str = "
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE sessions (
    session_id TEXT PRIMARY KEY,
    started_at INTEGER NOT NULL,
    last_active INTEGER NOT NULL,
    cwd TEXT NOT NULL,
    strategy TEXT NOT NULL,
    context TEXT NOT NULL,
    agent TEXT,
    context_epoch INTEGER NOT NULL DEFAULT 0,
    last_compaction_at INTEGER,
    compaction_count INTEGER NOT NULL DEFAULT 0,
    -- Of clients that do not name them: how many are at work.
    sub_agents INTEGER NOT NULL DEFAULT 0,
    -- The name of the summary that the client works with since its last compaction.
    snapshot TEXT NOT NULL DEFAULT '',
    -- What was read in it, whatever its readers have forgotten since.
    total_reads INTEGER NOT NULL DEFAULT 0,
    tokens_full INTEGER NOT NULL DEFAULT 0,
    tokens_sent INTEGER NOT NULL DEFAULT 0,
    overhead_tokens INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;

-- Counts the rounds of parallel calls of each reader whose client was seen to tell where they end.
CREATE TABLE rounds (
    session_id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    batch INTEGER NOT NULL,
    PRIMARY KEY (session_id, agent_id)
) WITHOUT ROWID;

CREATE TABLE reads (
    session_id TEXT NOT NULL,
    -- Empty for the main agent: sub-agents have eyes of their own.
    agent_id TEXT NOT NULL DEFAULT '',
    file_path TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    content TEXT,
    read_at INTEGER NOT NULL,
    reads_count INTEGER NOT NULL DEFAULT 1,
    tokens_full INTEGER NOT NULL DEFAULT 0,
    tokens_sent INTEGER NOT NULL DEFAULT 0,
    overhead_tokens INTEGER NOT NULL DEFAULT 0,
    content_storage TEXT NOT NULL CHECK (content_storage IN ('inline', 'file')),
    was_semantic_compressed INTEGER NOT NULL DEFAULT 0,
    elided_functions TEXT,
    source_map TEXT,
    context_epoch INTEGER NOT NULL,
    seen_ranges TEXT NOT NULL,
    -- Whether the eyes know where the file ends.
    seen_end INTEGER NOT NULL,
    batch INTEGER NOT NULL,
    -- The client's call that it was delivered with.
    call_id TEXT,
    -- What the session had been sent by then, in tokens.
    sent_until INTEGER NOT NULL DEFAULT 0,
    -- The delivery that this row sums up; 0 once what the eyes hold is in doubt.
    delivery INTEGER NOT NULL,
    PRIMARY KEY (session_id, agent_id, file_path)
) WITHOUT ROWID;
CREATE INDEX reads_by_file ON reads (file_path);
CREATE INDEX reads_by_content ON reads (content_hash);

CREATE TABLE deliveries (
    id INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    file_path TEXT NOT NULL,
    context_epoch INTEGER NOT NULL,
    batch INTEGER NOT NULL,
    delivered_at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    form TEXT NOT NULL,
    base INTEGER,
    content_hash TEXT NOT NULL,
    seen_ranges TEXT NOT NULL,
    seen_digest TEXT NOT NULL,
    first_line INTEGER,
    payload TEXT,
    payload_hash TEXT
);

CREATE TABLE file_registry (
    file_path TEXT PRIMARY KEY,
    content_hash TEXT NOT NULL,
    content TEXT,
    content_storage TEXT NOT NULL CHECK (content_storage IN ('inline', 'file')),
    last_session_id TEXT NOT NULL,
    last_seen_at INTEGER NOT NULL,
    last_git_branch TEXT,
    reads_count INTEGER NOT NULL DEFAULT 1,
    bytes INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX registry_by_age ON file_registry (last_seen_at);

CREATE TABLE expired_sessions (session_id TEXT PRIMARY KEY, expired_at INTEGER NOT NULL) WITHOUT ROWID;

CREATE TABLE lifetime_stats (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    installed_at INTEGER NOT NULL,
    total_reads INTEGER NOT NULL DEFAULT 0,
    tokens_full INTEGER NOT NULL DEFAULT 0,
    tokens_sent INTEGER NOT NULL DEFAULT 0,
    overhead_tokens INTEGER NOT NULL DEFAULT 0,
    external_edit_refreshes INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE lifetime_per_file (
    file_path TEXT PRIMARY KEY,
    reads INTEGER NOT NULL,
    tokens_full INTEGER NOT NULL,
    tokens_sent INTEGER NOT NULL,
    overhead_tokens INTEGER NOT NULL,
    last_read_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE lifetime_daily (
    day TEXT PRIMARY KEY,
    reads INTEGER NOT NULL,
    tokens_full INTEGER NOT NULL,
    tokens_sent INTEGER NOT NULL,
    overhead_tokens INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE lifetime_edited_files (
    file_path TEXT PRIMARY KEY,
    edits INTEGER NOT NULL,
    last_edit_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE passthrough_pending (
    session_id TEXT NOT NULL,
    agent_id TEXT NOT NULL DEFAULT '',
    file_path TEXT NOT NULL,
    set_at INTEGER NOT NULL,
    PRIMARY KEY (session_id, agent_id, file_path)
) WITHOUT ROWID;

CREATE TABLE precomputed_reads (
    session_id TEXT NOT NULL,
    agent_id TEXT NOT NULL DEFAULT '',
    file_path TEXT NOT NULL,
    file_mtime_ns INTEGER NOT NULL,
    file_size INTEGER NOT NULL,
    file_ctime_ns INTEGER NOT NULL,
    file_inode INTEGER NOT NULL,
    content_hash TEXT NOT NULL,
    new_content TEXT,
    new_tokens INTEGER NOT NULL,
    delta_tokens INTEGER NOT NULL,
    diff_text TEXT,
    outcome_kind INTEGER NOT NULL,
    baseline_hash TEXT NOT NULL,
    computed_at INTEGER NOT NULL,
    PRIMARY KEY (session_id, agent_id, file_path)
) WITHOUT ROWID;

CREATE TABLE read_events (
    id INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL,
    agent_id TEXT NOT NULL DEFAULT '',
    file_path TEXT NOT NULL,
    occurred_at INTEGER NOT NULL,
    outcome_kind TEXT NOT NULL,
    fallback_reason TEXT,
    tokens_full INTEGER NOT NULL,
    tokens_sent INTEGER NOT NULL,
    overhead_tokens INTEGER NOT NULL,
    -- The numbers behind the decision, for `why`.
    hunks INTEGER,
    policy TEXT,
    shown_before TEXT,
    shown_at INTEGER,
    rendered TEXT NOT NULL
);

CREATE TABLE edit_events (
    id INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL,
    agent_id TEXT NOT NULL DEFAULT '',
    file_path TEXT NOT NULL,
    before_hash TEXT NOT NULL,
    after_hash TEXT NOT NULL,
    patch TEXT NOT NULL,
    touched_ranges TEXT NOT NULL,
    touched_symbols TEXT NOT NULL,
    edited_at INTEGER NOT NULL,
    cert_used INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX edits_by_file ON edit_events (session_id, agent_id, file_path, id);

INSERT INTO lifetime_stats (id, installed_at) VALUES (1, unixepoch());
";
