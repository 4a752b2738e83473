//! Executes a compiled 3proxy configuration on tokio.
