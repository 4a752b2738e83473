//! Queries for names: a list is asked twice of one, first without a target and then, if it lets that pass, with the name.
use super::verdicts::Side;
use crate::analysis::requests::cell::{Cell, OPERATION, SOURCE, TIME, USER, Work};

/// The fields that both questions share.
const SHARED: [usize; 4] = [USER, SOURCE, OPERATION, TIME];

/// Those of `named` that both lists are asked: of whom both let the first question, which is one of `first`, pass. All, if that is
/// too much work.
pub(super) fn asked<'a>(
    named: &[Cell<'a>],
    first: &[Cell<'a>],
    sides: [&Side<'a>; 2],
    work: &mut Work,
) -> Vec<Cell<'a>> {
    let [Some(old), Some(new)] = sides.map(|side| side.passing(first, work)) else { return named.to_vec() };
    if !work.spend(named.len() * old.len() * new.len()) {
        return named.to_vec();
    }
    let mut asked = Vec::new();
    for cell in named {
        for (one, other) in old.iter().flat_map(|one| new.iter().map(move |other| (one, other))) {
            let shared = SHARED.into_iter().try_fold(cell.clone(), |cell, at| {
                let common = cell.numbers.get(at)?.and(one.numbers.get(at)?).and(other.numbers.get(at)?);
                (!common.is_empty()).then(|| cell.with(at, common))
            });
            asked.extend(shared);
        }
    }
    asked
}
