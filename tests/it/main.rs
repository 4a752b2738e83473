//! The integration tests, in one binary: the built command between real clients and servers, and the house rules.
//!
//! Everything is on loopback; ports are free ones; nothing waits for time to pass where an event can be awaited.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that can't go on fails, its helpers too"
)]

mod bad_clients;
mod bad_files;
mod cases;
mod check;
mod crypt;
mod diff;
mod doctor;
mod examples;
mod fixes;
mod fmt;
mod full;
mod generated;
mod golden;
mod help;
mod hosted;
mod judged;
mod layers;
mod licences;
mod limits;
mod loads;
mod mistakes;
mod policy_tests;
mod proxy;
mod readme;
mod reference;
mod reload;
mod run;
mod sarif;
mod secrets;
mod steering;
mod support;
mod tables;
mod tidy;
mod trace;
mod udp;
