mod machine;
mod margin;
mod transform;
