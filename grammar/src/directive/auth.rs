//! Commands about who a client is.
use super::{
    Directive,
    Effect::{Global, Setting},
    Kind, LONG, parameter, row,
};

pub(super) const ROWS: &[Directive] = &[
    row(
        "auth",
        (1, None),
        &[parameter(
            "authtype",
            Kind::OneOf(&["none", "iponly", "useronly", "dnsname", "strong", "cache", "cacheacl", "radius"]),
            "ways to learn who it is, tried in order",
        )],
        Setting,
        LONG,
        "Sets how clients are authenticated: the types are tried in order, and the first that succeeds has the access list walked. \
         It replaces the chain, so two lines are no union. With `none` the access list is never walked; with `iponly` user lists match nobody; \
         `cache` and `cacheacl` work only before the type whose result they keep.",
    ),
    row(
        "authcache",
        (1, Some(3)),
        &[
            parameter(
                "cachtype",
                Kind::Word,
                "what the key is made of: `ip,user,pass,limit,acl,ext,dstaddr,dstport,dsthost,dstoper,srvaddr,srvport`",
            ),
            parameter("cachtime", Kind::Number, "seconds that an entry lives; 600 by default"),
            parameter("cachesize", Kind::Number, "entries at most; 262144 by default"),
        ],
        Setting,
        LONG,
        "Sets what `auth cache` and `auth cacheacl` remember, and for how long. There is one cache for the whole process: services share entries unless \
         `acl`, `srvaddr` or `srvport` is in the key. The types are searched for as substrings, so a misspelt one is ignored and `dstip` means `ip`. \
         With `cacheacl` every field that the access list limits must be in the key, and no parent is applied on a hit but `extip`, with `ext` in the key.",
    ),
    row(
        "users",
        (0, None),
        &[parameter("user", Kind::Secret, "`NAME:TYPE:PASSWORD`, TYPE being CL, CR or NT")],
        Global,
        LONG,
        "Adds accounts to the password table, which all services share. The type is two capitals: CL in clear, CR crypt (`$1$`, `$3$`), NT. \
         Two other characters between colons drop the account without a word; \
         anything longer (`bob:MD5:…`) is no type but the start of the password. An unquoted `$` in a password names a file. A later entry replaces an earlier one of the same name.",
    ),
    row(
        "radius",
        (2, None),
        &[
            parameter("secret", Kind::Secret, "the shared secret, 63 bytes at most"),
            parameter("server", Kind::Word, "`ADDRESS[:PORT][/LOCAL]`, tried in order"),
        ],
        Global,
        "0.9.0",
        "Sets the RADIUS servers for `auth radius` and `log radius`. The port is 1812 by default, accounting goes to the next port. \
         A longer secret is cut at 63 bytes without a word.",
    ),
    row(
        "authnserver",
        (1, Some(1)),
        &[parameter("server", Kind::Word, "`ADDRESS[/tcp]`; IPv6 in brackets")],
        Global,
        LONG,
        "Sets the name server that `auth dnsname` asks. Without it, `nserver` is asked. The port is always 53.",
    )
    .apart(),
    row(
        "force",
        (0, Some(0)),
        &[],
        Setting,
        "0.8.7",
        "Has a reload ask running sessions of the following services for their authorization again. That is the default.",
    ),
    row(
        "noforce",
        (0, Some(0)),
        &[],
        Setting,
        "0.8.7",
        "Lets sessions of the following services outlive a reload as they are.",
    ),
];
