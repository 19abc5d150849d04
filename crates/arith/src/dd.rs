//! dd
