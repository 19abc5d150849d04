//! goldilocks
