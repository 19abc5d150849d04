//! Tests that compare the modules with slow and simple implementations.

mod lanes;
mod machine;
mod margin;
