//! Tests that compare each module with a slow and simple implementation.

mod lanes;
mod machine;
mod margin;
