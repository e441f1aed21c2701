//! Names that say nothing about whose they are.

/// Method names of the usual collections, texts, files and futures: a bare name says nothing then.
pub(super) fn is_common(name: &str) -> bool {
    name.len() < 3 || name.starts_with("__") || COMMON.binary_search(&name).is_ok()
}

/// In order, so that they can be looked up.
#[rustfmt::skip]
const COMMON: &[&str] = &[
    "add", "all", "any", "append", "apply", "args", "bind", "call", "catch", "clear", "clone", "close",
    "commit", "concat", "connect", "contains", "copy", "count", "create", "cursor", "date", "debug",
    "decode", "delete", "dict", "discard", "dump", "dumps", "emit", "encode", "end", "endswith",
    "entries", "equals", "error", "exec", "execute", "exists", "exit", "expect", "extend", "fetch",
    "fetchall", "fetchone", "fileno", "filter", "find", "first", "flat", "flush", "forEach", "format",
    "from", "get", "getvalue", "group", "groups", "handle", "has", "hash", "head", "id", "index",
    "indexOf", "info", "init", "insert", "into", "is_dir", "is_file", "isdigit", "isoformat", "items",
    "iter", "join", "json", "key", "keys", "kill", "last", "len", "length", "lines", "list", "load",
    "loads", "lock", "log", "lower", "lstrip", "main", "map", "match", "max", "min", "mkdir", "mode",
    "name", "new", "next", "now", "off", "on", "open", "parse", "patch", "path", "pop", "post", "print",
    "push", "put", "raise_for_status", "read", "readline", "readlines", "recv", "reduce", "register",
    "release", "reload", "remove", "render", "replace", "request", "reset", "resolve", "result",
    "reverse", "rollback", "rstrip", "run", "save", "search", "seek", "select", "send", "set",
    "setdefault", "setup", "shift", "show", "size", "slice", "some", "sort", "span", "split",
    "splitlines", "start", "startswith", "status", "step", "stop", "strip", "sub", "submit", "tell",
    "terminate", "test", "text", "then", "time", "timestamp", "title", "toString", "to_s", "to_string",
    "total_seconds", "trim", "truncate", "type", "union", "unlink", "unwrap", "update", "upper", "url",
    "value", "values", "version", "view", "visit", "wait", "warn", "warning", "with", "write",
    "writelines", "year", "zip",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_names_are_in_order() {
        assert!(COMMON.is_sorted());
        assert!(is_common("get") && is_common("__len__") && !is_common("resolve_command"));
    }
}
