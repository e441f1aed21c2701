//! Code questions answered from a warm, memoised index instead of from whole files.
