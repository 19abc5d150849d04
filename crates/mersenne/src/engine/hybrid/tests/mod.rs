mod fast;
mod machine;
mod margin;
mod transform;
