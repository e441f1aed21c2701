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
    Binary {
        name: "drip",
        package: "drip",
        profile: "dist-small",
        linked: Linked::System,
        size: Some(5_000_000),
        start_ms: 2.0,
    },
    Binary {
        name: "clai",
        package: "clai",
        profile: "dist",
        linked: Linked::System,
        size: Some(8_000_000),
        start_ms: 5.0,
    },
    Binary {
        name: "clai-daemon",
        package: "clai",
        profile: "dist",
        linked: Linked::System,
        size: Some(8_000_000),
        start_ms: 5.0,
    },
    Binary {
        name: "chibi",
        package: "chibi",
        profile: "dist",
        linked: Linked::System,
        size: Some(15_000_000),
        start_ms: 10.0,
    },
    Binary {
        name: "agent",
        package: "agent",
        profile: "dist",
        linked: Linked::System,
        size: Some(15_000_000),
        start_ms: 10.0,
    },
    Binary {
        name: "scrimp",
        package: "scrimp",
        profile: "dist",
        linked: Linked::System,
        size: None,
        start_ms: 10.0,
    },
];
