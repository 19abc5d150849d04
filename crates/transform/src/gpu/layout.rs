//! Vectors of elements of several words, as hosts and as devices have them.

/// Word d of element j at `d·count + j`, from words one element after the other.
///
/// # Panics
/// If the words are no whole elements.
#[must_use]
pub fn limb_major(words: &[u64], words_each: usize) -> Vec<u64> {
    transposed(words, words.len() / words_each, words_each)
}

/// The reverse of [`limb_major`].
///
/// # Panics
/// If the words are no whole elements.
#[must_use]
pub fn element_major(words: &[u64], words_each: usize) -> Vec<u64> {
    transposed(words, words_each, words.len() / words_each)
}

fn transposed(words: &[u64], rows: usize, columns: usize) -> Vec<u64> {
    assert_eq!(rows * columns, words.len(), "no whole elements");
    let column = |j: usize| (0..rows).map(move |i| words[i * columns + j]);
    (0..columns).flat_map(column).collect()
}
