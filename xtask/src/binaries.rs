//! The binaries we ship: how each is built and what it may weigh. A tool that moves in adds its line here.

/// One binary.
pub(crate) struct Binary {
    pub(crate) name: &'static str,
    pub(crate) package: &'static str,
    /// `dist`, or `dist-small` for what starts at every prompt or read. Panic strategy and features cannot differ
    /// inside one build, so each package is built by itself.
    pub(crate) profile: &'static str,
    /// Bytes, or `None` where the size is only reported.
    pub(crate) size: Option<u64>,
    /// CPU milliseconds of `--version` beyond those of an empty `main`.
    pub(crate) start_ms: f64,
}

pub(crate) const BINARIES: &[Binary] = &[
    Binary {
        name: "clai-hook",
        package: "clai-hook",
        profile: "dist-small",
        size: Some(600_000),
        start_ms: 0.3,
    },
    Binary { name: "drip", package: "drip", profile: "dist-small", size: Some(5_000_000), start_ms: 2.0 },
    Binary { name: "clai", package: "clai", profile: "dist", size: Some(8_000_000), start_ms: 5.0 },
    Binary { name: "clai-daemon", package: "clai", profile: "dist", size: Some(8_000_000), start_ms: 5.0 },
    Binary { name: "chibi", package: "chibi", profile: "dist", size: Some(15_000_000), start_ms: 10.0 },
    Binary { name: "agent", package: "agent", profile: "dist", size: Some(15_000_000), start_ms: 10.0 },
    Binary { name: "scrimp", package: "scrimp", profile: "dist", size: None, start_ms: 10.0 },
];
