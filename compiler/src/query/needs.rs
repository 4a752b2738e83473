//! What a query leaves out and would have to say.
use crate::{
    program::{
        Program,
        acl::{Ace, AclRef},
    },
    table::{
        Fields, Request, Subject,
        oracle::{field_matches, name_matches, outweighed, passed_over},
    },
};

/// The fields among `unknown` on whose values it depends which entry decides `request`.
pub(super) fn of(program: &Program, list: Option<AclRef>, request: &Request<'_>, unknown: Fields) -> Fields {
    let mut needs = Fields::NONE;
    each(program, list, request, unknown, |_, open| needs = needs.with(open));
    needs
}

/// Tells `found` of each entry that may decide `request`, with the fields among `unknown` that it would have to match by.
///
/// Entries are looked at in order, up to the first that matches whatever is not known. Those before it that match by what is known
/// are what the request depends on.
pub(crate) fn each(
    program: &Program,
    list: Option<AclRef>,
    request: &Request<'_>,
    unknown: Fields,
    mut found: impl FnMut(&Ace, Fields),
) {
    let (Some(list), false) = (list, unknown.is_empty()) else { return };
    let acls = &program.acls;
    let mut subject = Subject::new(request);
    for (_, ace) in acls.entries(list) {
        if outweighed(ace, subject.weight) {
            continue;
        }
        let Some(open) = open(ace, &subject, unknown) else { continue };
        found(ace, open);
        if !open.is_empty() {
            continue;
        }
        if !passed_over(acls, ace, &subject) {
            break;
        }
        subject.weight = ace.weight;
    }
}

/// The unknown fields that an entry asks for, if it matches by all others.
fn open(ace: &Ace, subject: &Subject<'_>, unknown: Fields) -> Option<Fields> {
    let matcher = &ace.matcher;
    let mut open = Fields::NONE;
    for field in [Fields::USER, Fields::OPERATION, Fields::PORT] {
        if !field_matches(matcher, field, subject) {
            return None;
        }
    }
    let is_limited = matcher.weekdays.is_some() || matcher.periods.is_some();
    for (field, is_limited) in [(Fields::SOURCE, matcher.sources.is_some()), (Fields::TIME, is_limited)] {
        if unknown.has(field) && is_limited {
            open = open.with(field);
        } else if !field_matches(matcher, field, subject) {
            return None;
        }
    }
    let targets = matcher.targets.as_deref().filter(|targets| !targets.addresses.is_empty());
    match targets.filter(|_| unknown.has(Fields::ADDRESS)) {
        Some(targets) => {
            let named = |host: &[u8]| targets.names.iter().any(|pattern| name_matches(pattern, host));
            if !subject.host.as_deref().is_some_and(named) {
                open = open.with(Fields::ADDRESS);
            }
        }
        None if !field_matches(matcher, Fields::TARGET, subject) => return None,
        None => {}
    }
    Some(open)
}
