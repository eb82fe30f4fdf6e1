//! Several orders of the same things made one. Start at [`fuse`]. Invariant: only places count, so that
//! scores of different kinds need no common measure.

use std::collections::HashMap;
use std::hash::Hash;

/// The usual constant of reciprocal rank fusion: how little the very first places stand out.
const FLATNESS: f64 = 60.0;

/// Best first; where two are equal, the one that an earlier list has first.
#[allow(clippy::cast_precision_loss)]
pub fn fuse<T: Copy + Eq + Hash>(lists: &[&[T]]) -> Vec<(T, f64)> {
    let mut places: HashMap<T, usize> = HashMap::new();
    let mut fused: Vec<(T, f64)> = Vec::new();
    for list in lists {
        for (place, &item) in list.iter().enumerate() {
            let slot = *places.entry(item).or_insert_with(|| {
                fused.push((item, 0.0));
                fused.len() - 1
            });
            fused[slot].1 += 1.0 / (FLATNESS + place as f64 + 1.0);
        }
    }
    fused.sort_by(|a, b| b.1.total_cmp(&a.1));
    fused
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_both_lists_have_comes_before_what_one_has() {
        let order: Vec<i32> = fuse(&[&[1, 2, 3], &[4, 3, 2]]).into_iter().map(|(item, _)| item).collect();
        assert_eq!(order[2..], [1, 4]);
        assert!(order[..2].contains(&2) && order[..2].contains(&3));
        assert!(fuse::<i32>(&[]).is_empty());
    }
}
