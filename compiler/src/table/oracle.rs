//! The specification: the plain first-match walk.
