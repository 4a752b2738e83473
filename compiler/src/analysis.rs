//! What is proved about access lists, for rules and comparisons: nothing here decides a request, [`policy`](crate::policy) does.
//!
//! - [`lists`]: which entries services ask, each once, however many services share a list.
//! - [`shadow`]: which of them no request reaches.
//! - [`witness`]: example requests; [`decided`] finds one that an entry decides.
//! - [`cached`]: what an authentication cache would answer.
//! - [`requests`]: sets of requests to calculate with, for [`shadow`] and [`change`](crate::change).
pub(crate) mod cached;
pub(crate) mod decided;
pub(crate) mod lists;
pub(crate) mod requests;
pub(crate) mod shadow;
pub mod witness;
