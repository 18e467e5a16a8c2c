//! Runnable programs: `cargo run -p briefing-examples --example quickstart`.
