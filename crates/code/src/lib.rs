//! What a source tree means: languages as data, per-file facts, pure queries.
