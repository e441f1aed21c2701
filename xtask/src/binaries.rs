//! The binaries we ship: how each is built and what it may weigh. A tool that moves in adds its line here.

/// One binary.
pub(crate) struct Binary {
    pub(crate) name: &'static str,
    pub(crate) package: &'static str,
    /// `dist`, or `dist-small` for what starts at every prompt or read. Panic strategy and features cannot differ
    /// inside one build, so each package is built by itself.
    pub(crate) profile: &'static str,
    pub(crate) linked: Linked,
    /// Bytes, or `None` where the size is only reported.
    pub(crate) size: Option<u64>,
    /// CPU milliseconds of `--version` beyond those of an empty `main`.
    pub(crate) start_ms: f64,
}

/// What a binary is linked with.
#[derive(PartialEq, Eq)]
pub(crate) enum Linked {
    System,
    /// With nothing that must be found and loaded at its start, where the compiler has the target for it: for what
    /// runs at every prompt, 0.3 ms of 0.9.
    AloneIfPossible,
}

pub(crate) const BINARIES: &[Binary] = &[
    Binary {
        name: "clai-hook",
        package: "clai-hook",
        profile: "dist-small",
        linked: Linked::AloneIfPossible,
        size: Some(600_000),
        start_ms: 0.3,
    },
    Binary { profile: "dist-small", ..dist("drip", "drip", Some(5_000_000), 2.0) },
    dist("clai", "clai", Some(8_000_000), 5.0),
    dist("clai-daemon", "clai", Some(8_000_000), 5.0),
    dist("chibi", "chibi", Some(15_000_000), 10.0),
    dist("agent", "agent", Some(15_000_000), 10.0),
    dist("scrimp", "scrimp", None, 10.0),
];

/// As most are: built for speed, with the system's libraries.
const fn dist(name: &'static str, package: &'static str, size: Option<u64>, start_ms: f64) -> Binary {
    Binary { name, package, profile: "dist", linked: Linked::System, size, start_ms }
}
