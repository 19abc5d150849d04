//! Tests that compare each module with a slow, obvious implementation.

mod lanes;
mod machine;
mod margin;
