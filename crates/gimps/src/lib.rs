//! gimps
