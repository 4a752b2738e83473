//! How the way of a request is told: as annotated source, or as JSON.
mod json;
mod otherwise;
mod reply;
#[cfg(test)]
mod tests;
mod text;
mod words;

use compiler::{
    policy::Policy,
    program::service::Service,
    query::Query,
    sources::Sources,
    trace::{Case, Trace},
    way::{self, Group, Origin},
};

/// What is told of.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'a> {
    pub(crate) sources: &'a Sources,
    pub(crate) policy: &'a Policy,
    /// As it was asked.
    pub(crate) query: &'a Query,
    pub(crate) trace: &'a Trace,
}

/// The way out of a request that passes.
struct WayOut<'a> {
    groups: Vec<Group<'a>>,
    /// From 0 to 1.
    direct: f64,
    origins: Vec<Origin>,
    /// How often parents are drawn before the request fails.
    attempts: u32,
}

impl<'a> Subject<'a> {
    fn service(&self) -> Option<&'a Service> {
        self.policy.program().services.get(self.query.service).map(|service| &**service)
    }

    /// `None`: it does not pass, or leads nowhere.
    fn way_out(&self, case: &Case) -> Option<WayOut<'a>> {
        let passes = case.answer.code.passes() && case.query.target.is_some();
        let service = self.service().filter(|_| passes)?;
        let parents = case.answer.verdict().map_or(&[][..], |verdict| self.policy.parents(verdict));
        let groups = way::groups(parents);
        let program = self.policy.program();
        Some(WayOut {
            direct: way::direct_share(&groups),
            origins: way::origins(&groups, service.external, service.family(), case.query.address(program)),
            attempts: way::attempts(&program.process, service.kind),
            groups,
        })
    }
}
