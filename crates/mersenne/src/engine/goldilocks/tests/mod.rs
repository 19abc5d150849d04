//! Every part against its slow, obvious version.

mod lanes;
mod machine;
mod margin;
