//! A streaming coding agent with five tools that never corrupts its own history.
