//! Every part compared with a slow, obvious implementation.

mod lanes;
mod machine;
mod margin;
