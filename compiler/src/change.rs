//! What changes between two configurations: services, settings, users, limits, and the requests that are decided otherwise.
//!
//! Services are the same if they speak the same and listen at the same place. For each pair of their access lists, the requests
//! whose verdict changes are found by calculating with sets of requests, not by trying: see [`verdicts`].
//!
//! **What is compared.** The first walk of a request, as the runtime makes it: with no weight left by an earlier one, and not behind a
//! local redirection. Of a query to `dnspr` that is the one without its name; where both versions let that pass, the one with the name is
//! compared as well. A verdict is what is decided, the way out (parents by their content), and whether it is logged. Requests that no
//! client of the service can make are left out: operations that it does not have, names under `iponly`, names without a password where
//! all clients must have one, other targets than a port mapper's, addresses of a family that it does not use.
//!
//! **Where it stops.** Lists that are so entangled that the calculation would not end soon are compared in part, and
//! [`ListChange`] says so.
//!
//! Reading order: [`verdicts`], then what it calculates with: [`requests`](crate::analysis::requests), `align` and `pairs`; `describe` puts it into
//! words. `services` and `settings` compare the rest.
mod align;
mod by_name;
mod describe;
mod pairs;
mod services;
mod settings;
#[cfg(test)]
mod tests;
mod verdicts;

use crate::{
    Compiled,
    analysis::witness::Witness,
    program::acl::{AceId, Operation},
    sources::Loc,
    table::Decision,
};

/// Everything that changes.
#[derive(Debug, Default)]
pub struct Changes {
    /// Services of the new configuration that the old one has not, by index.
    pub opened: Vec<usize>,
    /// Services of the old configuration that the new one has not.
    pub closed: Vec<usize>,
    /// Services of both with settings that differ.
    pub changed: Vec<ServiceChange>,
    /// How many services are in both, changed or not.
    pub kept: usize,
    /// What acts on the whole process.
    pub settings: Vec<SettingChange>,
    /// Users.
    pub users: Vec<UserChange>,
    /// Requests that are decided otherwise, by pair of lists.
    pub lists: Vec<ListChange>,
    /// Services whose lists are not equal but were not compared: it would have been too much work.
    pub uncompared: Vec<(usize, usize)>,
}

/// A service of both configurations, with what differs.
#[derive(Debug)]
pub struct ServiceChange {
    /// Its index in the old configuration.
    pub old: usize,
    /// And in the new one.
    pub new: usize,
    /// What differs, the access list aside.
    pub settings: Vec<SettingChange>,
}

/// A setting that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingChange {
    /// The directive or option.
    pub name: &'static str,
    /// What set it in the old configuration: the line or word. `None`: nothing did.
    pub old: Option<Loc>,
    /// And in the new one.
    pub new: Option<Loc>,
}

/// A user that differs. Passwords are compared as they are written and shown nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserChange {
    /// The name.
    pub name: String,
    /// The word that made it in the old configuration.
    pub old: Option<Loc>,
    /// And in the new one; if both are there, the password differs.
    pub new: Option<Loc>,
}

/// Requests that a pair of access lists decides differently.
#[derive(Debug, Default)]
pub struct ListChange {
    /// Services that have this pair of lists: index in the old and in the new configuration.
    pub services: Vec<(usize, usize)>,
    /// What the services' clients can ask for.
    pub operations: Vec<Operation>,
    /// What differs: what is newly let through comes first.
    pub classes: Vec<Class>,
    /// There are more classes than these.
    pub more: bool,
    /// Pairs of entries of which it was too much work to find out whether any request meets them.
    pub undecided: usize,
    /// An entry with parents leaves a weight that may keep later ones from deciding a BIND: BINDs are compared as if it did not.
    pub weights: bool,
}

/// Requests that one entry decided and that another decides now, which does something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// The entry that decided (`None`: the end of the list, or the list is empty or not walked), and what it decided.
    pub old: (Option<AceId>, Decision),
    /// And now.
    pub new: (Option<AceId>, Decision),
    /// Which they are: each request is in one of these at most.
    pub requests: Vec<Requests>,
    /// `requests` are all of them and no other. Otherwise entries before these two decide some of them.
    pub complete: bool,
    /// One of them, put to both policies.
    pub witness: Witness,
}

/// Requests by field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requests {
    /// User names; `-` is nobody.
    pub users: Values,
    /// Client addresses.
    pub sources: Values,
    /// Target names, as patterns.
    pub hosts: Values,
    /// Target addresses.
    pub addresses: Values,
    /// Target ports.
    pub ports: Values,
    /// Operations.
    pub operations: Vec<Operation>,
    /// Times of the week.
    pub times: Values,
}

/// Values of a field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Values {
    /// These; `None`: any.
    pub items: Option<Vec<String>>,
    /// But not these.
    pub but: Vec<String>,
    /// How many more `items` there are.
    pub omitted: usize,
    /// How many more are in `but`.
    pub but_omitted: usize,
    /// Whether requests of which the value is not known are with them; `None`: it always is.
    pub unknown: Option<bool>,
}

impl ListChange {
    /// Nothing differs, and everything was looked at.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.classes.is_empty() && !self.more && self.undecided == 0 && !self.weights
    }
}

impl Values {
    /// Nothing is left out.
    #[must_use]
    pub fn is_any(&self) -> bool {
        self.items.is_none() && self.but.is_empty() && self.unknown != Some(false)
    }
}

impl Changes {
    /// Nothing changes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let Self { opened, closed, changed, kept: _, settings, users, lists, uncompared } = self;
        opened.is_empty()
            && closed.is_empty()
            && changed.is_empty()
            && settings.is_empty()
            && users.is_empty()
            && lists.is_empty()
            && uncompared.is_empty()
    }
}

/// Compares two configurations.
#[must_use]
pub fn compare(old: &Compiled, new: &Compiled) -> Changes {
    let mut changes = Changes {
        settings: settings::process(&old.program, &new.program),
        users: settings::users(&old.program, &new.program),
        ..Changes::default()
    };
    let pairs = services::pair(&old.program, &new.program, &mut changes);
    changes.kept = pairs.len();
    changes.changed = services::changed(&old.program, &new.program, &pairs);
    services::lists(&old.program, &new.program, &pairs, &mut changes);
    services::confirm_and_join(&old.program, &new.program, &mut changes.lists);
    changes
}
