//! Every lint rule, one file each, named as the rule is.
//!
//! To add one, write `lints/my_rule.rs` and run `UPDATE=1 cargo test -p compiler registry`: it writes the lines between the
//! `@generated` markers. To drop one, delete its file and its two lines here. A rule that lowering finds (a line that
//! 3proxy refuses, a word that it misreads) is declared `from lowering`, and lowering calls [`Rule::finding`].

pub mod rule;
#[cfg(test)]
pub(crate) mod tests;

// @generated from the files in `lints/`: run `UPDATE=1 cargo test -p compiler registry`.
pub(crate) mod ace_extra_words;
pub(crate) mod acl_column_mixup;
pub(crate) mod acl_under_auth_none;
pub(crate) mod address_read_as_name;
pub(crate) mod argument_count;
pub(crate) mod auth_cache_after_real_type;
pub(crate) mod auth_cache_without_authcache;
pub(crate) mod authcache_unknown_field;
pub(crate) mod bandlim_too_low;
pub(crate) mod bom;
pub(crate) mod cache_key_misses_field;
pub(crate) mod cache_key_without_client;
pub(crate) mod cache_shared_between_services;
pub(crate) mod cacheacl_extip_without_ext;
pub(crate) mod cacheacl_with_parent;
pub(crate) mod count_limit_zero;
pub(crate) mod duplicate_listener;
pub(crate) mod empty_list;
pub(crate) mod empty_password;
pub(crate) mod entry_missing;
pub(crate) mod include_cycle;
pub(crate) mod include_missing;
pub(crate) mod indented_directive;
pub(crate) mod invalid_value;
pub(crate) mod line_too_long;
pub(crate) mod listen_address_ignored;
pub(crate) mod local_redirect_needs_zeros;
pub(crate) mod maxconn_negative;
pub(crate) mod network_length_malformed;
pub(crate) mod none_behind_password;
pub(crate) mod nscache_too_small;
pub(crate) mod nul_byte;
pub(crate) mod number_malformed;
pub(crate) mod open_proxy;
pub(crate) mod parent_after_deny;
pub(crate) mod parent_credentials_too_long;
pub(crate) mod parent_hop_ignored;
pub(crate) mod parent_weight_out_of_range;
pub(crate) mod parent_weights_leak;
pub(crate) mod password_read_as_include;
pub(crate) mod period_ignored;
pub(crate) mod port_list_malformed;
pub(crate) mod port_malformed;
pub(crate) mod port_mapper_arguments;
pub(crate) mod port_out_of_range;
pub(crate) mod port_range_reversed;
pub(crate) mod secure_parent_without_mode3;
pub(crate) mod setting_after_service;
pub(crate) mod target_is_no_name;
pub(crate) mod timeouts_invalid;
pub(crate) mod tls_mode_conflict;
pub(crate) mod too_many_words;
pub(crate) mod trailing_comment;
pub(crate) mod unclosed_quote;
pub(crate) mod unfinished_splice;
pub(crate) mod unknown_auth_type;
pub(crate) mod unknown_directive;
pub(crate) mod unknown_option;
pub(crate) mod unknown_parent_type;
pub(crate) mod unused_allowance;
pub(crate) mod user_dropped;
pub(crate) mod weekday_not_understood;
pub(crate) mod wildcard_in_the_middle;

#[rustfmt::skip]
static RULES: &[&Rule] = &[
    &ace_extra_words::RULE,
    &acl_column_mixup::RULE,
    &acl_under_auth_none::RULE,
    &address_read_as_name::RULE,
    &argument_count::RULE,
    &auth_cache_after_real_type::RULE,
    &auth_cache_without_authcache::RULE,
    &authcache_unknown_field::RULE,
    &bandlim_too_low::RULE,
    &bom::RULE,
    &cache_key_misses_field::RULE,
    &cache_key_without_client::RULE,
    &cache_shared_between_services::RULE,
    &cacheacl_extip_without_ext::RULE,
    &cacheacl_with_parent::RULE,
    &count_limit_zero::RULE,
    &duplicate_listener::RULE,
    &empty_list::RULE,
    &empty_password::RULE,
    &entry_missing::RULE,
    &include_cycle::RULE,
    &include_missing::RULE,
    &indented_directive::RULE,
    &invalid_value::RULE,
    &line_too_long::RULE,
    &listen_address_ignored::RULE,
    &local_redirect_needs_zeros::RULE,
    &maxconn_negative::RULE,
    &network_length_malformed::RULE,
    &none_behind_password::RULE,
    &nscache_too_small::RULE,
    &nul_byte::RULE,
    &number_malformed::RULE,
    &open_proxy::RULE,
    &parent_after_deny::RULE,
    &parent_credentials_too_long::RULE,
    &parent_hop_ignored::RULE,
    &parent_weight_out_of_range::RULE,
    &parent_weights_leak::RULE,
    &password_read_as_include::RULE,
    &period_ignored::RULE,
    &port_list_malformed::RULE,
    &port_malformed::RULE,
    &port_mapper_arguments::RULE,
    &port_out_of_range::RULE,
    &port_range_reversed::RULE,
    &secure_parent_without_mode3::RULE,
    &setting_after_service::RULE,
    &target_is_no_name::RULE,
    &timeouts_invalid::RULE,
    &tls_mode_conflict::RULE,
    &too_many_words::RULE,
    &trailing_comment::RULE,
    &unclosed_quote::RULE,
    &unfinished_splice::RULE,
    &unknown_auth_type::RULE,
    &unknown_directive::RULE,
    &unknown_option::RULE,
    &unknown_parent_type::RULE,
    &unused_allowance::RULE,
    &user_dropped::RULE,
    &weekday_not_understood::RULE,
    &wildcard_in_the_middle::RULE,
];
// @end

pub use rule::{Group, Lint, Rule};

use std::sync::Arc;

use grammar::directive::closest;

use crate::{finding::Finding, options::Options, program::Program, sources::Sources};

/// All findings of all rules that read the Program; those of lowering are in it already.
#[must_use]
pub fn check(sources: &Sources, program: &Arc<Program>, options: &Options) -> Vec<Finding> {
    let mut lint = Lint::new(sources, program, options);
    for rule in RULES {
        lint.run(rule);
    }
    lint.into_findings()
}

/// Every rule, by name.
#[must_use]
pub fn all() -> &'static [&'static Rule] {
    RULES
}

/// The rule of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.name == name).copied()
}

/// The rule whose name is most like `name`, or else has it as a part; if one is like it at all.
#[must_use]
pub fn similar(name: &str) -> Option<&'static Rule> {
    let asked = name.to_ascii_lowercase().replace('_', "-");
    let contained = || RULES.iter().find(|rule| asked.len() > 3 && rule.name.contains(&asked)).copied();
    let near = closest(asked.as_bytes(), RULES.iter().map(|rule| rule.name));
    near.and_then(find).or_else(contained)
}
