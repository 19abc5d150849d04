//! Maps a form that is known only at run time to the type of its field.

/// `with_field!(form, |field| expression)` evaluates the expression with `field` bound to the
/// [`Gfn<K>`](crate::gfn::Gfn) of a [`Form`](crate::gfn::Form), where K is its number of digits.
/// The result is a `Result`: the value of the expression, whose type must be the same for all K, or
/// the error [`NoField`](crate::gfn::NoField) if the number of the form is not prime.
///
/// The expression is the body of a closure that is compiled once for each K. Functions that it
/// calls may have a parameter `&Gfn<K>` with `const K: usize`.
#[macro_export]
macro_rules! with_field {
    ($form:expr, |$field:ident| $body:expr) => {{
        let form: $crate::gfn::Form = $form;
        match form.digits() {
            2 => $crate::gfn::Gfn::<2>::new(form).map(|$field| $body),
            4 => $crate::gfn::Gfn::<4>::new(form).map(|$field| $body),
            8 => $crate::gfn::Gfn::<8>::new(form).map(|$field| $body),
            16 => $crate::gfn::Gfn::<16>::new(form).map(|$field| $body),
            32 => $crate::gfn::Gfn::<32>::new(form).map(|$field| $body),
            64 => $crate::gfn::Gfn::<64>::new(form).map(|$field| $body),
            _ => $crate::gfn::Gfn::<128>::new(form).map(|$field| $body),
        }
    }};
}
