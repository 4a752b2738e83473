//! Every lint rule, one file each, named as the rule is.
//!
//! To add one, write `lints/my_rule.rs` and run `UPDATE=1 cargo test -p compiler registry`: it writes the lines between the
//! `@generated` markers. To drop one, delete its file and its two lines here. A rule that lowering finds (a line that
//! 3proxy refuses, a word that it misreads) is declared `from lowering`, and lowering calls [`Rule::finding`].

pub mod rule;
mod run;
#[cfg(test)]
pub(crate) mod tests;

// What several rules share, each by its subject.
mod arriving;
mod caches;
mod certificates;
mod clock;
pub(crate) mod columns;
mod limit_lines;
mod listeners;
mod matched;
mod privileges;
mod reach;
mod shadowed;
mod strangers;
mod user_words;
pub(crate) mod yielding;

// @generated from the files in `lints/`: run `UPDATE=1 cargo test -p compiler registry`.
pub(crate) mod ace_extra_words;
pub(crate) mod acl_column_mixup;
pub(crate) mod acl_inherited_without_flush;
pub(crate) mod acl_large_linear;
pub(crate) mod acl_under_auth_none;
pub(crate) mod acl_unused;
pub(crate) mod address_read_as_name;
pub(crate) mod admin_exposed;
pub(crate) mod admin_ignores_target;
pub(crate) mod after_end;
pub(crate) mod archiver_without_rotate;
pub(crate) mod argument_count;
pub(crate) mod auth_cache_after_real_type;
pub(crate) mod auth_cache_alone;
pub(crate) mod auth_cache_without_authcache;
pub(crate) mod auth_overwritten;
pub(crate) mod auth_type_never_asked;
pub(crate) mod authcache_never_used;
pub(crate) mod authcache_size_small;
pub(crate) mod authcache_unknown_field;
pub(crate) mod authnserver_port_ignored;
pub(crate) mod backlog_small;
pub(crate) mod backslash_continuation;
pub(crate) mod backslash_is_no_escape;
pub(crate) mod bandlim_shared_channel;
pub(crate) mod bandlim_too_low;
pub(crate) mod bandlim_unit;
pub(crate) mod bind_address_is_name;
pub(crate) mod bom;
pub(crate) mod cache_any_password;
pub(crate) mod cache_key_misses_field;
pub(crate) mod cache_key_password_alone;
pub(crate) mod cache_key_without_client;
pub(crate) mod cache_radius_without_ext;
pub(crate) mod cache_shared_between_services;
pub(crate) mod cache_without_password;
pub(crate) mod cacheacl_extip_without_ext;
pub(crate) mod cacheacl_time_dependent;
pub(crate) mod cacheacl_with_parent;
pub(crate) mod chroot_after_setuid;
pub(crate) mod cidr_host_bits;
pub(crate) mod cleartext_password;
pub(crate) mod comma_behind_password;
pub(crate) mod comment_in_user_file;
pub(crate) mod config_replaces_file;
pub(crate) mod connlim_shared;
pub(crate) mod connlim_slot_kept;
pub(crate) mod connlim_zero;
pub(crate) mod count_limit_unread;
pub(crate) mod count_limit_zero;
pub(crate) mod count_period_unknown;
pub(crate) mod countall_counts_one_way;
pub(crate) mod counter_number_twice;
pub(crate) mod counter_without_file;
pub(crate) mod crlf;
pub(crate) mod crypt_format_unsupported;
pub(crate) mod daemon_not_first;
pub(crate) mod deny_behind_allow;
pub(crate) mod deny_outweighed;
pub(crate) mod directive_since;
pub(crate) mod dnsname_without_resolver;
pub(crate) mod dnspr_without_resolver;
pub(crate) mod duplicate_listener;
pub(crate) mod empty_configuration;
pub(crate) mod empty_list;
pub(crate) mod empty_password;
pub(crate) mod empty_quotes;
pub(crate) mod endpoint_malformed;
pub(crate) mod entry_missing;
pub(crate) mod external_address_of_unused_family;
pub(crate) mod external_is_loopback;
pub(crate) mod fakeresolve_order;
pub(crate) mod fakeresolve_without_plus;
pub(crate) mod family_option_junk;
pub(crate) mod final_deny_missing;
pub(crate) mod flush_without_effect;
pub(crate) mod grace_delay_caps_throughput;
pub(crate) mod grace_without_numbers;
pub(crate) mod guessable_password;
pub(crate) mod hash_as_password;
pub(crate) mod hostname_rule_bypassed_by_address;
pub(crate) mod https_port_without_connect;
pub(crate) mod implicit_deny_surprise;
pub(crate) mod include_cycle;
pub(crate) mod include_missing;
pub(crate) mod include_nested;
pub(crate) mod indented_directive;
pub(crate) mod invalid_value;
pub(crate) mod ipv4_source_on_ipv6_listener;
pub(crate) mod ipv4_target_evaded;
pub(crate) mod ipv6_source_on_ipv4_listener;
pub(crate) mod ktls_without_splice;
pub(crate) mod limit_entry_unreachable;
pub(crate) mod limit_exception_too_late;
pub(crate) mod limit_on_parent_address;
pub(crate) mod limit_repeated;
pub(crate) mod line_too_long;
pub(crate) mod list_too_long_for_3proxy;
pub(crate) mod listen_address_ignored;
pub(crate) mod local_redirect_needs_zeros;
pub(crate) mod local_redirect_of_tls;
pub(crate) mod local_redirect_without_second_allow;
pub(crate) mod local_targets_reachable;
pub(crate) mod log_after_service;
pub(crate) mod log_before_setuid;
pub(crate) mod log_format_no_filter;
pub(crate) mod log_format_no_zone;
pub(crate) mod log_format_unknown;
pub(crate) mod log_rotation_unknown;
pub(crate) mod loopback_denied_in_part;
pub(crate) mod maxconn_default_at_load;
pub(crate) mod maxconn_negative;
pub(crate) mod mitm_without_ca;
pub(crate) mod mitm_without_verify;
pub(crate) mod mixed_auth_open;
pub(crate) mod monitor_half_written;
pub(crate) mod nat_address_ignored;
pub(crate) mod network_length_malformed;
pub(crate) mod nolog_misplaced;
pub(crate) mod non_utf8;
pub(crate) mod none_behind_password;
pub(crate) mod nscache_too_small;
pub(crate) mod nserver_ipv6_unbracketed;
pub(crate) mod nserver_is_name;
pub(crate) mod nserver_to_itself;
pub(crate) mod nserver_too_many;
pub(crate) mod nsrecord_case;
pub(crate) mod nsrecord_never_asked;
pub(crate) mod nsrecord_without_nscache;
pub(crate) mod nsrecord_without_nserver;
pub(crate) mod nul_byte;
pub(crate) mod number_malformed;
pub(crate) mod obsolete_plugin;
pub(crate) mod old_rule_name;
pub(crate) mod open_proxy;
pub(crate) mod open_resolver;
pub(crate) mod operation_impossible_for_service;
pub(crate) mod option_for_other_service;
pub(crate) mod option_without_effect;
pub(crate) mod parent_after_deny;
pub(crate) mod parent_chain_not_fallback;
pub(crate) mod parent_credentials_too_long;
pub(crate) mod parent_extends_distant_entry;
pub(crate) mod parent_for_last_entry_only;
pub(crate) mod parent_hop_ignored;
pub(crate) mod parent_password_in_clear;
pub(crate) mod parent_plus_without_fakeresolve;
pub(crate) mod parent_port_zero;
pub(crate) mod parent_resolved_once;
pub(crate) mod parent_same_kind_redirect;
pub(crate) mod parent_star_without_user;
pub(crate) mod parent_to_itself;
pub(crate) mod parent_type_for_service;
pub(crate) mod parent_user_holds_password;
pub(crate) mod parent_user_read_as_star;
pub(crate) mod parent_weight_out_of_range;
pub(crate) mod parent_weights_leak;
pub(crate) mod parent_weights_overflow;
pub(crate) mod parent_without_name;
pub(crate) mod password_read_as_include;
pub(crate) mod period_ignored;
pub(crate) mod plugin_behind_chroot;
pub(crate) mod port_conflict_any;
pub(crate) mod port_list_malformed;
pub(crate) mod port_malformed;
pub(crate) mod port_mapper_arguments;
pub(crate) mod port_of_the_service;
pub(crate) mod privileged_port_after_setuid;
pub(crate) mod proxy_header_from_anyone;
pub(crate) mod radius_port;
pub(crate) mod radius_secret_short;
pub(crate) mod radius_secret_truncated;
pub(crate) mod radius_unused;
pub(crate) mod radius_without_servers;
pub(crate) mod redirect_deprecated;
pub(crate) mod redundant_entry;
pub(crate) mod reuseport_random_extip;
pub(crate) mod rotate_without_type;
pub(crate) mod secure_parent_without_mode3;
pub(crate) mod service_admits_nobody;
pub(crate) mod service_deprecated;
pub(crate) mod setgid_after_setuid;
pub(crate) mod setting_after_service;
pub(crate) mod setting_overridden;
pub(crate) mod setuid_twice;
pub(crate) mod short_name_evaded;
pub(crate) mod single_quotes;
pub(crate) mod smart_punctuation;
pub(crate) mod socket_option_unknown;
pub(crate) mod splice_without_effect;
pub(crate) mod sql_log_injection;
pub(crate) mod strong_without_users;
pub(crate) mod suffix_matches_others;
pub(crate) mod suffix_misses_apex;
pub(crate) mod system_in_config;
pub(crate) mod target_is_no_name;
pub(crate) mod target_skipped_when_absent;
pub(crate) mod template_markers;
pub(crate) mod time_rule_void_at_start;
pub(crate) mod timeouts_count;
pub(crate) mod timeouts_invalid;
pub(crate) mod tls_cert_missing;
pub(crate) mod tls_client_without_verify;
pub(crate) mod tls_mode3_without_secure_parent;
pub(crate) mod tls_mode_conflict;
pub(crate) mod tls_version_unknown;
pub(crate) mod tls_versions_reversed;
pub(crate) mod too_many_words;
pub(crate) mod trailing_comment;
pub(crate) mod udp_destinations_unchecked;
pub(crate) mod unclosed_quote;
pub(crate) mod unfinished_splice;
pub(crate) mod unix_socket_loses_data;
pub(crate) mod unknown_auth_type;
pub(crate) mod unknown_directive;
pub(crate) mod unknown_option;
pub(crate) mod unknown_parent_type;
pub(crate) mod unknown_user_in_acl;
pub(crate) mod unreachable_entry;
pub(crate) mod unused_allowance;
pub(crate) mod user_dropped;
pub(crate) mod user_list_under_iponly;
pub(crate) mod user_never_admitted;
pub(crate) mod user_redefined;
pub(crate) mod user_too_long;
pub(crate) mod user_without_name;
pub(crate) mod users_unused;
pub(crate) mod weak_hash;
pub(crate) mod weekday_not_understood;
pub(crate) mod weight_negative;
pub(crate) mod wildcard_in_the_middle;
pub(crate) mod writable_from_network;

#[rustfmt::skip]
static RULES: &[&Rule] = &[
    &ace_extra_words::RULE,
    &acl_column_mixup::RULE,
    &acl_inherited_without_flush::RULE,
    &acl_large_linear::RULE,
    &acl_under_auth_none::RULE,
    &acl_unused::RULE,
    &address_read_as_name::RULE,
    &admin_exposed::RULE,
    &admin_ignores_target::RULE,
    &after_end::RULE,
    &archiver_without_rotate::RULE,
    &argument_count::RULE,
    &auth_cache_after_real_type::RULE,
    &auth_cache_alone::RULE,
    &auth_cache_without_authcache::RULE,
    &auth_overwritten::RULE,
    &auth_type_never_asked::RULE,
    &authcache_never_used::RULE,
    &authcache_size_small::RULE,
    &authcache_unknown_field::RULE,
    &authnserver_port_ignored::RULE,
    &backlog_small::RULE,
    &backslash_continuation::RULE,
    &backslash_is_no_escape::RULE,
    &bandlim_shared_channel::RULE,
    &bandlim_too_low::RULE,
    &bandlim_unit::RULE,
    &bind_address_is_name::RULE,
    &bom::RULE,
    &cache_any_password::RULE,
    &cache_key_misses_field::RULE,
    &cache_key_password_alone::RULE,
    &cache_key_without_client::RULE,
    &cache_radius_without_ext::RULE,
    &cache_shared_between_services::RULE,
    &cache_without_password::RULE,
    &cacheacl_extip_without_ext::RULE,
    &cacheacl_time_dependent::RULE,
    &cacheacl_with_parent::RULE,
    &chroot_after_setuid::RULE,
    &cidr_host_bits::RULE,
    &cleartext_password::RULE,
    &comma_behind_password::RULE,
    &comment_in_user_file::RULE,
    &config_replaces_file::RULE,
    &connlim_shared::RULE,
    &connlim_slot_kept::RULE,
    &connlim_zero::RULE,
    &count_limit_unread::RULE,
    &count_limit_zero::RULE,
    &count_period_unknown::RULE,
    &countall_counts_one_way::RULE,
    &counter_number_twice::RULE,
    &counter_without_file::RULE,
    &crlf::RULE,
    &crypt_format_unsupported::RULE,
    &daemon_not_first::RULE,
    &deny_behind_allow::RULE,
    &deny_outweighed::RULE,
    &directive_since::RULE,
    &dnsname_without_resolver::RULE,
    &dnspr_without_resolver::RULE,
    &duplicate_listener::RULE,
    &empty_configuration::RULE,
    &empty_list::RULE,
    &empty_password::RULE,
    &empty_quotes::RULE,
    &endpoint_malformed::RULE,
    &entry_missing::RULE,
    &external_address_of_unused_family::RULE,
    &external_is_loopback::RULE,
    &fakeresolve_order::RULE,
    &fakeresolve_without_plus::RULE,
    &family_option_junk::RULE,
    &final_deny_missing::RULE,
    &flush_without_effect::RULE,
    &grace_delay_caps_throughput::RULE,
    &grace_without_numbers::RULE,
    &guessable_password::RULE,
    &hash_as_password::RULE,
    &hostname_rule_bypassed_by_address::RULE,
    &https_port_without_connect::RULE,
    &implicit_deny_surprise::RULE,
    &include_cycle::RULE,
    &include_missing::RULE,
    &include_nested::RULE,
    &indented_directive::RULE,
    &invalid_value::RULE,
    &ipv4_source_on_ipv6_listener::RULE,
    &ipv4_target_evaded::RULE,
    &ipv6_source_on_ipv4_listener::RULE,
    &ktls_without_splice::RULE,
    &limit_entry_unreachable::RULE,
    &limit_exception_too_late::RULE,
    &limit_on_parent_address::RULE,
    &limit_repeated::RULE,
    &line_too_long::RULE,
    &list_too_long_for_3proxy::RULE,
    &listen_address_ignored::RULE,
    &local_redirect_needs_zeros::RULE,
    &local_redirect_of_tls::RULE,
    &local_redirect_without_second_allow::RULE,
    &local_targets_reachable::RULE,
    &log_after_service::RULE,
    &log_before_setuid::RULE,
    &log_format_no_filter::RULE,
    &log_format_no_zone::RULE,
    &log_format_unknown::RULE,
    &log_rotation_unknown::RULE,
    &loopback_denied_in_part::RULE,
    &maxconn_default_at_load::RULE,
    &maxconn_negative::RULE,
    &mitm_without_ca::RULE,
    &mitm_without_verify::RULE,
    &mixed_auth_open::RULE,
    &monitor_half_written::RULE,
    &nat_address_ignored::RULE,
    &network_length_malformed::RULE,
    &nolog_misplaced::RULE,
    &non_utf8::RULE,
    &none_behind_password::RULE,
    &nscache_too_small::RULE,
    &nserver_ipv6_unbracketed::RULE,
    &nserver_is_name::RULE,
    &nserver_to_itself::RULE,
    &nserver_too_many::RULE,
    &nsrecord_case::RULE,
    &nsrecord_never_asked::RULE,
    &nsrecord_without_nscache::RULE,
    &nsrecord_without_nserver::RULE,
    &nul_byte::RULE,
    &number_malformed::RULE,
    &obsolete_plugin::RULE,
    &old_rule_name::RULE,
    &open_proxy::RULE,
    &open_resolver::RULE,
    &operation_impossible_for_service::RULE,
    &option_for_other_service::RULE,
    &option_without_effect::RULE,
    &parent_after_deny::RULE,
    &parent_chain_not_fallback::RULE,
    &parent_credentials_too_long::RULE,
    &parent_extends_distant_entry::RULE,
    &parent_for_last_entry_only::RULE,
    &parent_hop_ignored::RULE,
    &parent_password_in_clear::RULE,
    &parent_plus_without_fakeresolve::RULE,
    &parent_port_zero::RULE,
    &parent_resolved_once::RULE,
    &parent_same_kind_redirect::RULE,
    &parent_star_without_user::RULE,
    &parent_to_itself::RULE,
    &parent_type_for_service::RULE,
    &parent_user_holds_password::RULE,
    &parent_user_read_as_star::RULE,
    &parent_weight_out_of_range::RULE,
    &parent_weights_leak::RULE,
    &parent_weights_overflow::RULE,
    &parent_without_name::RULE,
    &password_read_as_include::RULE,
    &period_ignored::RULE,
    &plugin_behind_chroot::RULE,
    &port_conflict_any::RULE,
    &port_list_malformed::RULE,
    &port_malformed::RULE,
    &port_mapper_arguments::RULE,
    &port_of_the_service::RULE,
    &privileged_port_after_setuid::RULE,
    &proxy_header_from_anyone::RULE,
    &radius_port::RULE,
    &radius_secret_short::RULE,
    &radius_secret_truncated::RULE,
    &radius_unused::RULE,
    &radius_without_servers::RULE,
    &redirect_deprecated::RULE,
    &redundant_entry::RULE,
    &reuseport_random_extip::RULE,
    &rotate_without_type::RULE,
    &secure_parent_without_mode3::RULE,
    &service_admits_nobody::RULE,
    &service_deprecated::RULE,
    &setgid_after_setuid::RULE,
    &setting_after_service::RULE,
    &setting_overridden::RULE,
    &setuid_twice::RULE,
    &short_name_evaded::RULE,
    &single_quotes::RULE,
    &smart_punctuation::RULE,
    &socket_option_unknown::RULE,
    &splice_without_effect::RULE,
    &sql_log_injection::RULE,
    &strong_without_users::RULE,
    &suffix_matches_others::RULE,
    &suffix_misses_apex::RULE,
    &system_in_config::RULE,
    &target_is_no_name::RULE,
    &target_skipped_when_absent::RULE,
    &template_markers::RULE,
    &time_rule_void_at_start::RULE,
    &timeouts_count::RULE,
    &timeouts_invalid::RULE,
    &tls_cert_missing::RULE,
    &tls_client_without_verify::RULE,
    &tls_mode3_without_secure_parent::RULE,
    &tls_mode_conflict::RULE,
    &tls_version_unknown::RULE,
    &tls_versions_reversed::RULE,
    &too_many_words::RULE,
    &trailing_comment::RULE,
    &udp_destinations_unchecked::RULE,
    &unclosed_quote::RULE,
    &unfinished_splice::RULE,
    &unix_socket_loses_data::RULE,
    &unknown_auth_type::RULE,
    &unknown_directive::RULE,
    &unknown_option::RULE,
    &unknown_parent_type::RULE,
    &unknown_user_in_acl::RULE,
    &unreachable_entry::RULE,
    &unused_allowance::RULE,
    &user_dropped::RULE,
    &user_list_under_iponly::RULE,
    &user_never_admitted::RULE,
    &user_redefined::RULE,
    &user_too_long::RULE,
    &user_without_name::RULE,
    &users_unused::RULE,
    &weak_hash::RULE,
    &weekday_not_understood::RULE,
    &weight_negative::RULE,
    &wildcard_in_the_middle::RULE,
    &writable_from_network::RULE,
];
// @end

pub use rule::{Group, Lint, Rule};
pub use run::{all, check, check_each, find, similar};
