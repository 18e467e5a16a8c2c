//! Behaviour that crosses crates, and rules of the workspace itself: see `tests/`.
