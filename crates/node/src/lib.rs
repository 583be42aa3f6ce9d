//! A validator.
