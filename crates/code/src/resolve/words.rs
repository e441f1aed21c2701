//! Names that say nothing about whose they are.

/// Method names of the usual collections, texts, files and futures: a bare name says nothing then.
pub(super) fn is_common(name: &str) -> bool {
    name.len() < 3 || name.starts_with("__") || COMMON.binary_search(&name).is_ok()
}

/// In order, so that they can be looked up.
#[rustfmt::skip]
const COMMON: &[&str] = &[
    "add", "all", "any", "append", "apply", "arg", "args", "as_bytes", "as_str", "bind", "bytes", "call",
    "catch", "chars", "clear", "clone", "close", "collect", "commit", "concat", "connect", "contains",
    "copy", "count", "create", "cursor", "date", "debug", "decode", "delete", "dict", "discard", "drain",
    "dump", "dumps", "emit", "encode", "end", "endswith", "entries", "entry", "equals", "err", "error",
    "exec", "execute", "exists", "exit", "expect", "extend", "extend_from_slice", "fetch", "fetchall",
    "fetchone", "fileno", "filter", "find", "find_map", "first", "flat", "flush", "fold", "forEach",
    "format", "from", "get", "getvalue", "group", "groups", "handle", "has", "hash", "head", "id",
    "index", "indexOf", "info", "init", "insert", "into", "is_dir", "is_empty", "is_file", "is_none",
    "is_some", "isdigit", "isoformat", "items", "iter", "join", "json", "key", "keys", "kill", "last",
    "len", "length", "lines", "list", "load", "loads", "lock", "log", "lower", "lstrip", "main", "map",
    "match", "max", "min", "mkdir", "mode", "name", "new", "next", "now", "off", "ok", "on", "open",
    "parse", "patch", "path", "pop", "post", "print", "push", "push_str", "put", "raise_for_status",
    "read", "readline", "readlines", "recv", "reduce", "register", "release", "reload", "remove",
    "render", "replace", "request", "reset", "resolve", "result", "rev", "reverse", "rollback", "rstrip",
    "run", "save", "search", "seek", "select", "send", "set", "setdefault", "setup", "shift", "show",
    "size", "skip", "slice", "some", "sort", "span", "split", "splitlines", "start", "startswith",
    "status", "step", "stop", "strip", "sub", "submit", "take", "tell", "terminate", "test", "text",
    "then", "time", "timestamp", "title", "toString", "to_owned", "to_s", "to_string", "total_seconds",
    "trim", "truncate", "type", "union", "unlink", "unwrap", "update", "upper", "url", "value", "values",
    "version", "view", "visit", "wait", "warn", "warning", "with", "write", "writelines", "year", "zip",
];

/// Methods of Rust's own types that give what is inside, or the same again.
pub(super) fn is_wrapping(name: &str) -> bool {
    WRAPPING.binary_search(&name).is_ok()
}

/// Methods that a wrapping of Rust's has and what it wraps seldom: who calls them means the wrapping.
pub(super) fn is_of_wrapping(name: &str) -> bool {
    let of_collections = matches!(name, "get" | "get_mut" | "into_iter" | "iter" | "iter_mut");
    is_wrapping(name) && !of_collections
        || matches!(
            name,
            "and_then" | "is_err" | "is_none" | "is_ok" | "is_some" | "map" | "map_err" | "ok_or" | "or"
        )
}

#[rustfmt::skip]
const WRAPPING: &[&str] = &[
    "as_deref", "as_mut", "as_ref", "borrow", "borrow_mut", "clone", "expect", "get", "get_mut", "into_iter", "iter",
    "iter_mut", "lock", "ok", "read", "take", "to_owned", "unwrap", "unwrap_or", "unwrap_or_default", "unwrap_or_else",
    "write",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_names_are_in_order() {
        assert!(COMMON.is_sorted() && WRAPPING.is_sorted());
        assert!(is_common("get") && is_common("__len__") && !is_common("resolve_command"));
    }
}
