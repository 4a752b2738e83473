//! Access lists and parents: `allow`, `deny`, `redirect`, `parent`, `nolog`, `weight`, `flush`.
use grammar::{
    Secret, Text,
    directive::closest,
    value::{self, Host},
};

use super::{
    Handlers, Lowering,
    command::{Arg, Command},
};
use crate::{
    lints,
    program::{
        Flush,
        acl::{Ace, AceId, AclRef, Action, ItemList, ListId, Matcher, Parent, ParentHost, ParentKind},
        history::Faked,
    },
    sources::Loc,
};

pub(super) const HANDLERS: Handlers = &[
    ("allow", |lowering, command| lowering.entry(command, Action::Allow)),
    ("deny", |lowering, command| lowering.entry(command, Action::Deny)),
    ("redirect", |lowering, command| lowering.redirect(command)),
    ("parent", |lowering, command| lowering.parent(command)),
    ("nolog", |lowering, command| lowering.nolog(command)),
    ("weight", |lowering, command| lowering.weight(command)),
    ("flush", |lowering, command| lowering.flush(command)),
];

/// What stands for the fields of an entry that 3proxy refuses: nobody matches. So the list that it is in is not taken for
/// an empty one, which lets everyone in, and what extends the entry has something to extend.
fn refused() -> (Matcher, i32) {
    (Matcher { users: Some(ItemList::default()), ..Matcher::default() }, 0)
}

impl ParentKind {
    /// The type that `word` names, and whether a trailing `s` asks for TLS.
    pub(crate) fn named(word: &[u8]) -> Option<(Self, bool)> {
        let find = |wanted: &[u8]| ParentKind::WORDS.iter().find(|(name, _)| name.as_bytes() == wanted);
        let plain = || find(word).map(|(_, kind)| (*kind, false));
        plain().or_else(|| find(word.strip_suffix(b"s")?).map(|(_, kind)| (*kind, true)))
    }

    /// A redirection within the process that 3proxy takes only with `0.0.0.0 0`.
    const fn is_local_only(self) -> bool {
        matches!(
            self,
            Self::Pop3 | Self::Smtp | Self::Ftp | Self::Admin | Self::Tls | Self::Dns | Self::ProxyProtocol
        )
    }
}

impl Lowering<'_> {
    fn entry(&mut self, command: &Command<'_>, action: Action) {
        let (matcher, weight) = self.matcher(command, 0).unwrap_or_else(refused);
        self.append(command.at, action, matcher, weight);
    }

    /// `redirect ADDRESS PORT`: an entry with one parent of type `http`.
    fn redirect(&mut self, command: &Command<'_>) {
        let (Some(host), Some(port)) = (command.argument(0), command.argument(1)) else { return };
        let port = self.port(port, &port.value);
        let fields = self.matcher(command, 2);
        let host = self.parent_host(command, host, ParentKind::Http);
        let (matcher, weight) = fields.filter(|_| host.is_some()).unwrap_or_else(refused);
        self.append(command.at, Action::Allow, matcher, weight);
        let Some(host) = host else { return };
        self.add_parent(Parent {
            at: command.at,
            weight: 1000,
            kind: ParentKind::Http,
            secure: false,
            host,
            port,
            user: None,
            password: None,
        });
    }

    /// Puts an entry behind the current list.
    fn append(&mut self, at: Loc, action: Action, matcher: Matcher, weight: i32) {
        let acls = &mut self.program.acls;
        let id = AceId(acls.aces.len() as u32);
        acls.aces.push(Ace { at, action, matcher, parents: (0, 0), nolog: false, weight });
        let list = *self.state.list.get_or_insert_with(|| {
            acls.lists.push(Vec::new());
            ListId(acls.lists.len() as u32 - 1)
        });
        if let Some(ids) = acls.lists.get_mut(list.0 as usize) {
            ids.push(id);
        }
        self.state.last_copied = false;
    }

    fn parent(&mut self, command: &Command<'_>) {
        let [weight, kind, host, port, ..] = command.arguments.as_slice() else { return };
        if let Some(finding) = lints::parent_weight_out_of_range::swapped(weight, kind) {
            self.report(finding);
            return self.refuse_parent();
        }
        if let Some(meant) = command.unassigned().filter(|meant| meant.arguments.len() > 3) {
            self.report(lints::parent_weight_out_of_range::assigned(command, weight));
            return self.parent(&meant);
        }
        if let Some(meant) = with_weight(command) {
            self.report(lints::parent_weight_out_of_range::missing(weight));
            return self.parent(&meant);
        }
        let weight_read = self.number(weight);
        let weight_good = u16::try_from(weight_read).ok().filter(|read| (1..=1000).contains(read));
        if weight_good.is_none() {
            self.report(lints::parent_weight_out_of_range::finding(weight));
        }
        let port_read = self.port(port, &port.value);
        let Some((kind_read, secure)) = ParentKind::named(&kind.value) else {
            let near = closest(&kind.value, ParentKind::WORDS.iter().map(|(name, _)| *name));
            self.report(lints::unknown_parent_type::finding(kind, near));
            return self.refuse_parent();
        };
        let host_read = self.parent_host(command, host, kind_read);
        let last = self.last_entry().map(|entry| (entry.action, entry.at));
        match last {
            Some((Action::Allow, _)) => {}
            Some((Action::Deny, at)) => return self.report(lints::parent_after_deny::finding(command, at)),
            None => return self.report(lints::entry_missing::finding(command)),
        }
        let (Some(weight), Some(host)) = (weight_good, host_read) else { return self.refuse_parent() };
        let parent = Parent {
            at: command.at,
            weight,
            kind: kind_read,
            secure,
            host,
            port: port_read,
            user: command.argument(4).map(Arg::text),
            password: command.argument(5).map(|word| Secret::from(word.value.as_ref())),
        };
        if kind_read.is_local_only() && !parent.is_local() {
            return self.report(lints::local_redirect_needs_zeros::finding(command));
        }
        self.add_parent(parent);
    }

    /// The entry lacks a parent that was meant.
    fn refuse_parent(&mut self) {
        let entry = self.last_entry().map(|entry| entry.at);
        self.program.history.refused_parents.extend(entry);
    }

    fn parent_host(&mut self, command: &Command<'_>, host: &Arg<'_>, kind: ParentKind) -> Option<ParentHost> {
        if let Some(path) = host.value.strip_prefix(b"unix:") {
            return Some(ParentHost::Unix(Text::from(path)));
        }
        let slash = host.value.iter().position(|byte| *byte == b'/');
        let name = slash.and_then(|at| host.value.get(..at)).unwrap_or(&host.value);
        let length = slash.and_then(|at| host.value.get(at + 1..));
        match (value::host(name), length) {
            (Ok(Host::Address(address)), Some(length)) if kind == ParentKind::ExternalAddress => {
                let length = self.glued_number(host, length, 0);
                Some(ParentHost::Prefix(address, u8::try_from(length).unwrap_or_default()))
            }
            (Ok(Host::Address(address)), _) => Some(ParentHost::Address(address)),
            (Ok(Host::Name(name)), _) => {
                if let Some(address) = self.short_address(&name) {
                    return Some(ParentHost::Address(address.into()));
                }
                if let Some(by) = self.fake() {
                    self.program.history.faked_parents.push(Faked { at: command.at, by });
                }
                Some(ParentHost::Name(name))
            }
            (Err(_), _) => {
                self.report(lints::invalid_value::address(command, host));
                None
            }
        }
    }

    fn nolog(&mut self, command: &Command<'_>) {
        self.note_distance(command);
        if !self.extend(|entry| entry.nolog = true) {
            self.report(lints::entry_missing::finding(command));
        }
    }

    fn weight(&mut self, command: &Command<'_>) {
        let Some(argument) = command.argument(0) else { return };
        let value = self.number(argument);
        self.note_distance(command);
        if !self.extend(|entry| entry.weight = value) {
            self.report(lints::entry_missing::finding(command));
        }
    }

    /// Reports a command that extends an entry from behind a service which has copied it.
    fn note_distance(&mut self, command: &Command<'_>) {
        if !self.state.last_copied {
            return;
        }
        let service = self.program.services.last().map(|service| service.at);
        if let Some((entry, service)) = self.last_entry().map(|entry| entry.at).zip(service) {
            self.report(lints::nolog_misplaced::finding(command, entry, service));
        }
    }

    fn flush(&mut self, command: &Command<'_>) {
        let (list, copied) = (self.state.list, self.state.copied);
        self.program.flushes.push(Flush { at: command.at, list, copied });
        self.state.list = None;
        self.state.copied = 0;
        self.state.last_copied = false;
    }

    /// The current list.
    fn current(&self) -> &[AceId] {
        let list = self.state.list.and_then(|list| self.program.acls.lists.get(list.0 as usize));
        list.map_or(&[], Vec::as_slice)
    }

    fn last_entry(&self) -> Option<&Ace> {
        self.program.acls.ace(*self.current().last()?)
    }

    /// Changes the last entry. If a service copied it as it was, the change makes a new version of it.
    /// False: there is none.
    fn extend(&mut self, change: impl FnOnce(&mut Ace)) -> bool {
        let Some(list) = self.state.list else { return false };
        let acls = &mut self.program.acls;
        let Some(last) = acls.lists.get_mut(list.0 as usize).and_then(|ids| ids.last_mut()) else {
            return false;
        };
        if self.state.last_copied
            && let Some(version) = acls.aces.get(last.0 as usize).cloned()
        {
            *last = AceId(acls.aces.len() as u32);
            acls.aces.push(version);
            self.state.last_copied = false;
        }
        acls.aces.get_mut(last.0 as usize).map(change).is_some()
    }

    /// Puts a parent behind those of the last entry.
    fn add_parent(&mut self, parent: Parent) {
        // Parents of one entry stand together: only the last entry ever gets one.
        let end = self.program.acls.parents.len() as u32;
        self.program.acls.parents.push(parent);
        self.extend(|entry| {
            let start = if entry.redirects() { entry.parents.0 } else { end };
            entry.parents = (start, end + 1);
        });
    }

    /// The current list, as a service copies it now.
    pub(super) fn copy_acl(&mut self) -> Option<AclRef> {
        let copy = self.current_ref()?;
        self.state.copied = copy.len;
        self.state.last_copied = true;
        Some(copy)
    }

    fn current_ref(&self) -> Option<AclRef> {
        let current = self.current();
        Some(AclRef { list: self.state.list?, len: current.len() as u32, last: *current.last()? })
    }

    /// Keeps [`crate::program::Program::leftover_acl`].
    pub(super) fn finish_acl(&mut self) {
        if !self.state.last_copied {
            self.program.leftover_acl = self.current_ref();
        }
    }
}

/// What is meant by a `parent` that has all but its weight, and a user.
fn with_weight<'t>(command: &Command<'t>) -> Option<Command<'t>> {
    let ([kind, _, port, _] | [kind, _, port, _, _]) = command.arguments.as_slice() else { return None };
    let port = port.value.as_ref();
    let is_port = !port.is_empty() && port.iter().all(u8::is_ascii_digit);
    let kind = kind.clone();
    (is_port && ParentKind::named(&kind.value).is_some()).then(|| {
        let weight = Arg { value: b"1000".into(), at: kind.at, value_start: None };
        let arguments = [weight].into_iter().chain(command.arguments.iter().cloned()).collect();
        Command { at: command.at, name: command.name.clone(), arguments }
    })
}
