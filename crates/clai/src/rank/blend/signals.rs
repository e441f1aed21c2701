//! What can speak for a candidate: the name of each signal as people see it, and how much it counts on an empty line
//! and on one that is begun, before anything was learned about the person.
//!
//! The starting weights are what `cargo bench -p clai --bench clai-quality -- tune` prints for one half of the users
//! of the sample, rounded; those of tasks, recoveries and failures are set by hand, since the sample has none of them.

macro_rules! signals {
    ($($signal:ident $name:literal $empty:literal $typed:literal,)*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Signal { $($signal),* }

        pub(super) const ALL: [Signal; COUNT] = [$(Signal::$signal),*];
        pub(super) const NAMES: [&str; COUNT] = [$($name),*];
        pub(super) const EMPTY: Values = [$($empty),*];
        pub(super) const TYPED: Values = [$($typed),*];
        pub(super) const COUNT: usize = [$($name),*].len();
    };
}

pub(super) type Values = [f32; COUNT];

signals! {
    // The lines before.
    Line1 "after_line" 0.00 0.00,
    Line1Fast "after_line" 0.00 0.00,
    Line2 "after_lines" 0.02 0.01,
    Line3 "after_lines" 0.04 0.14,
    Skip2 "after_lines" 0.10 0.07,
    Skip3 "after_lines" 0.09 0.04,
    LineToTemplate "after_line" 0.00 0.01,
    AnySession "after_any_session" 0.31 0.20,
    Recovery "recovery" 1.0 0.5,
    // The templates and programs before.
    Template1 "after_template" 0.00 0.00,
    Template2 "after_templates" 0.02 0.01,
    Template3 "after_templates" 0.03 0.02,
    Template1ToTemplate "after_template" 0.04 0.03,
    Template2ToTemplate "after_templates" 0.04 0.06,
    Program1 "after_program" 0.18 0.25,
    RepoTransition "repo_transition" 0.05 0.02,
    GlobalTransition "global_transition" 0.04 0.03,
    // Where.
    Directory "directory" 0.03 0.12,
    DirectoryFast "directory" 0.03 0.13,
    DirectoryAfter "directory" 0.02 0.05,
    DirectoryToTemplate "directory" 0.02 0.01,
    FreqRepo "freq_repo" 0.11 0.12,
    // When, and how often.
    Session "session" 0.39 0.12,
    Recent "recent" 0.04 0.03,
    RecentFast "recent" 0.09 0.09,
    RecentTemplate "recent" 0.07 0.06,
    RecentProgram "recent" 0.04 0.01,
    Age "recent" 0.26 0.14,
    FreqGlobal "freq_global" 0.02 0.06,
    FreqLine "freq_global" 0.02 0.29,
    ShareOfTemplate "freq_global" 0.30 0.38,
    Repeat "repeat" -0.07 -0.52,
    RepeatTemplate "repeat" 0.34 0.53,
    Failed "failed_before" -1.5 -1.5,
    // What nobody has run here yet.
    Task "project_task" 2.0 2.0,
    Carried "context_default" 1.28 0.72,
    After "context_default" 1.01 0.60,
    Always "context_default" 1.43 2.87,
    // Lines made of words of other lines.
    Composed "composed" 0.00 -1.64,
    ComposedAge "composed" 0.00 0.55,
    ComposedProgram "composed" 0.00 0.19,
    ComposedNeighbour "composed" 0.00 0.63,
    ComposedTail "composed" 0.00 -0.30,
    ComposedOften "composed" 0.00 0.43,
    ComposedTyped "composed" 0.00 -0.49,
    ComposedPiece "composed" 0.00 -0.34,
    Length "length" -0.07 -0.59,
}

/// The weight of "none of these", which has no other signal, and how far scores are trusted; on an empty line, and on
/// one that is begun.
pub(super) const NONE_AND_TRUST: [(f32, f32); 2] = [(6.65, 0.92), (1.60, 0.62)];

/// How a probability is shown, see [`super::weights`]; on an empty line, and on one that is begun. On an empty line
/// nothing is made of words of other lines.
pub(super) const SLOPE_AND_SHIFT: [[(f32, f32); 2]; 2] =
    [[(0.78, -0.53), (0.78, -0.53)], [(1.11, 0.48), (1.0, 2.22)]];

impl Signal {
    /// Whether it may come to speak against a candidate. Evidence must not: where two signals say nearly the same, one
    /// would learn to take back what the other says too loud, and no explanation would make sense.
    pub(super) fn may_oppose(self) -> bool {
        matches!(
            self,
            Signal::Repeat
                | Signal::RepeatTemplate
                | Signal::Failed
                | Signal::Composed
                | Signal::ComposedTail
                | Signal::ComposedTyped
                | Signal::ComposedPiece
                | Signal::Length
        )
    }
}
