//! Entries that almost decided.
use std::cmp::Reverse;

use crate::{
    program::{
        Program,
        acl::{Ace, AceId, Acls},
    },
    table::{
        Fields, Request, Subject,
        oracle::{field_matches, outweighed, passed_over},
    },
};

/// An entry that comes before the deciding one, and why it did not decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Near {
    /// The entry.
    pub entry: AceId,
    /// Why not.
    pub why: Why,
}

/// Why an entry does not decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It does not match by these fields.
    Differs(Fields),
    /// It matches, but an entry that was passed over before it has set this weight, which is higher than its own.
    Outweighed(i32),
    /// It matches, but has parents, and this operation can't go through any.
    Unredirectable,
}

/// At most this many are named.
const MOST: usize = 3;
/// An entry that differs in more fields is not near.
const MOST_FIELDS: usize = 2;

/// The fields of an entry that can differ, in its order.
const COMPARED: [Fields; 6] =
    [Fields::USER, Fields::SOURCE, Fields::TARGET, Fields::PORT, Fields::OPERATION, Fields::TIME];

/// The nearest of the entries before `deciding` (`None`: of all) in a service's list.
pub(super) fn of(
    program: &Program,
    service: usize,
    request: &Request<'_>,
    deciding: Option<AceId>,
) -> Vec<Near> {
    let Some(list) = program.services.get(service).and_then(|service| service.acl) else { return Vec::new() };
    let mut subject = Subject::new(request);
    let mut nearest: Vec<(usize, Reverse<usize>, Near)> = Vec::new();
    let before = program.acls.entries(list).take_while(|(id, _)| Some(*id) != deciding);
    for (place, (entry, ace)) in before.enumerate() {
        let why = why(&program.acls, ace, &mut subject);
        // Both ways to name a target are one field.
        let distance =
            if let Why::Differs(fields) = why { fields.without(Fields::ADDRESS).each().count() } else { 0 };
        if distance > MOST_FIELDS {
            continue;
        }
        nearest.push((distance, Reverse(place), Near { entry, why }));
        if nearest.len() > MOST {
            nearest.sort_by_key(|(distance, place, _)| (*distance, *place));
            nearest.truncate(MOST);
        }
    }
    nearest.sort_by_key(|(_, Reverse(place), _)| *place);
    nearest.into_iter().map(|(.., near)| near).collect()
}

/// Why an entry does not decide. One that is passed over leaves its weight behind.
fn why(acls: &Acls, ace: &Ace, subject: &mut Subject<'_>) -> Why {
    let differs = COMPARED.into_iter().filter(|field| !field_matches(&ace.matcher, *field, subject));
    let differs = differs.fold(Fields::NONE, Fields::with);
    if !differs.is_empty() {
        return Why::Differs(differs);
    }
    if outweighed(ace, subject.weight) {
        return Why::Outweighed(subject.weight);
    }
    debug_assert!(passed_over(acls, ace, subject), "otherwise it would have decided");
    subject.weight = ace.weight;
    Why::Unredirectable
}
