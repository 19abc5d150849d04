//! A macro that maps a form known only at run time to the type of its field.

/// Evaluates an expression with the field of a [`Form`](crate::gfn::Form) that is known only at run
/// time.
///
/// `with_field!(form, |field| expression)` binds `field` to the [`Gfn<K>`](crate::gfn::Gfn) of the
/// form, where K is the number of digits of the form. The macro returns `Ok` with the value of the
/// expression, whose type must be the same for all K. It returns the error
/// [`NoField`](crate::gfn::NoField) if the number of the form is not prime.
///
/// The expression is compiled once for each K. It can call functions that have a parameter
/// `&Gfn<K>` and are generic over `const K: usize`.
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
