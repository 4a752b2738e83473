//! What is told where 3proxy does otherwise: `cfgc trace` answers for `cfgc run`.
use annotate_snippets::AnnotationKind;
use compiler::{
    query::Outcome,
    sources::Loc,
    trace::{Otherwise, Reason, When, reference::Ends},
};

use super::{
    Subject,
    text::{Said, Section},
};
use crate::report::line_number;

impl Subject<'_> {
    /// A part of the text for each way in which 3proxy does otherwise.
    pub(super) fn otherwise<'s>(&self, all: &[Otherwise]) -> Vec<Section<'s>> {
        let section = |otherwise: &Otherwise| {
            let decides = self.deciding(otherwise).map(|at| (at, "decides under 3proxy"));
            let reasons = otherwise.reasons.iter().filter_map(place);
            let mut said: Vec<Said> = Vec::new();
            for (at, label) in decides.into_iter().chain(reasons) {
                let kind = if said.is_empty() { AnnotationKind::Primary } else { AnnotationKind::Context };
                said.push(Said::new(at, kind, label));
            }
            let notes = otherwise.ends.map(|ends| format!("Its result code is {}.", ends.code));
            Section {
                name: "3proxy",
                message: self.sentence("", otherwise),
                said,
                notes: notes.into_iter().collect(),
            }
        };
        all.iter().map(section).collect()
    }

    /// What `who` would do, when, and why.
    pub(super) fn sentence(&self, who: &str, otherwise: &Otherwise) -> String {
        let when = match otherwise.when {
            When::Always => "",
            When::Remembered => " once its cache knows a request with the same key",
            When::FirstSecond => " in the first second after its start",
        };
        let reasons: Vec<_> = otherwise.reasons.iter().map(|reason| self.reason(reason)).collect();
        let does = otherwise.ends.map_or_else(|| "behave differently".to_owned(), |ends| self.ends(&ends));
        format!("{who}would {does}{when}: {}", reasons.join("; "))
    }

    fn ends(&self, ends: &Ends) -> String {
        let entry = ends.verdict.and_then(|verdict| verdict.entry);
        let ace = entry.and_then(|entry| self.policy.program().acls.ace(entry));
        let by = ace.map(|ace| format!("by the entry in line {}", line_number(self.sources, ace.at)));
        match (ends.outcome, by) {
            (Outcome::Allow, Some(by)) => format!("let it pass {by}"),
            (Outcome::Allow, None) if ends.verdict.is_none() => {
                "let it pass, direct, whatever the list says".to_owned()
            }
            (Outcome::Allow, None) => "let it pass".to_owned(),
            (Outcome::Deny, Some(by)) => format!("refuse it {by}"),
            (Outcome::Deny, None) => "refuse it at the end of the list".to_owned(),
            (Outcome::AuthRequired, _) => "want another login".to_owned(),
            (Outcome::Unresolved, _) => "say that there is no such name".to_owned(),
        }
    }

    fn reason(&self, reason: &Reason) -> String {
        let line = |at: Loc| line_number(self.sources, at);
        match reason {
            Reason::ClientInV6Form(address) => {
                format!("it takes the client for {address}, which is in no IPv4 network")
            }
            Reason::TargetInV6Form(address) => {
                format!("it takes the target for {address}, which is in no IPv4 network")
            }
            Reason::DotKept => "it compares the name with the dot at its end".to_owned(),
            Reason::LookedUpFirst => {
                "it looks a name up before it asks who the client is and what the list says".to_owned()
            }
            Reason::RecordInOtherCase(at) => format!(
                "capitals count in the record of line {}, so it asks its name servers for this name",
                line(*at)
            ),
            Reason::WeightKept => {
                "it keeps the weight that an entry left for an authentication type before".to_owned()
            }
            Reason::EmptyHash => "it accepts any password where the hash is empty".to_owned(),
            Reason::CredentialsCut => "it reads no more than 255 bytes of name and password".to_owned(),
            Reason::NameUnheard => "its list does not know which name is asked for".to_owned(),
            Reason::ReadAsStar(at) => format!(
                "it takes the user name in line {} for `*`, the client's own, and there is none",
                line(*at)
            ),
            Reason::ParentFaked(at) => format!(
                "it looks for the parent of line {} at 127.0.0.2, as for every name, because of `fakeresolve`",
                line(*at)
            ),
            Reason::FoundInCache(_) => "it uses the remembered answer".to_owned(),
            Reason::TimesVoid => "no entry with weekdays or times matches then".to_owned(),
        }
    }

    /// The entry that decides under 3proxy.
    pub(super) fn deciding(&self, otherwise: &Otherwise) -> Option<Loc> {
        let entry = otherwise.ends?.verdict?.entry?;
        self.policy.program().acls.ace(entry).map(|ace| ace.at)
    }
}

/// Where a reason stands in the configuration, and what is said there.
const fn place(reason: &Reason) -> Option<(Loc, &'static str)> {
    match reason {
        Reason::RecordInOtherCase(at) => Some((*at, "not found by 3proxy")),
        Reason::ReadAsStar(at) => Some((*at, "read as `*`")),
        Reason::ParentFaked(at) => Some((*at, "taken to be at 127.0.0.2")),
        Reason::FoundInCache(Some(at)) => Some((*at, "finds it")),
        _ => None,
    }
}
