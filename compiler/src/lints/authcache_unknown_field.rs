//! Words in the field list of `authcache` that are no fields.
use grammar::{
    Span,
    directive::closest,
    value::{CacheField, CacheTrap, cache_fields},
};

use super::rule::{Misread, rule};
use crate::{
    finding::Finding,
    fix::{Fix, Safety},
    lower::command::Arg,
    program::trap::Trap,
    sources::Loc,
};

rule! {
    /// A word in the field list of `authcache` that is not a field is ignored, or read as another field.
    ///
    /// 3proxy searches the list for the names of its fields, anywhere in a word. So `dstip` is read as `ip`, and a cached
    /// verdict for one target then holds for every other.
    ///
    /// ```3proxy,fires
    /// users "alice:CL:correct horse"
    /// authcache user,pass,dstip 600
    /// auth cacheacl strong
    /// allow alice * 192.0.2.0/24
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// ```3proxy,fixed
    /// users "alice:CL:correct horse"
    /// authcache user,pass,dstaddr 600
    /// auth cacheacl strong
    /// allow alice * 192.0.2.0/24
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// The fields are:
    ///
    /// ```3proxy,clean
    /// authcache ip,user,pass,limit,acl,ext,dstaddr,dstport,dsthost,dstoper,srvaddr,srvport 600
    /// auth iponly
    /// proxy -i127.0.0.1
    /// ```
    "authcache-unknown-field",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    trap: Trap::Cache(fault) => |word| finding(word, fault),
}

fn contains(word: &[u8], name: &[u8]) -> bool {
    word.windows(name.len()).any(|part| part == name)
}

/// `word` is an item of the list, but no field. `others`: the list has fields besides.
fn finding(word: Misread<'_>, trap: CacheTrap) -> Finding {
    let others = CacheField::ALL.into_iter().any(|field| contains(word.word, field.name().as_bytes()));
    let cited = word.cited();
    let listed = |fields: &mut dyn Iterator<Item = CacheField>| {
        fields.map(|field| format!("`{}`", field.name())).collect::<Vec<_>>().join(", ")
    };
    let mut finding = match trap {
        CacheTrap::Misread(fields) => RULE
            .finding(
                word.at,
                format!("`{cited}` is not a field: 3proxy reads {} in it", listed(&mut fields.iter())),
            )
            .label("not a field"),
        CacheTrap::Unknown if others => RULE
            .finding(word.at, format!("`{cited}` is not a field, so it is not in the key"))
            .label("ignored"),
        CacheTrap::Unknown => RULE
            .finding(word.at, format!("`{cited}` is not a field: 3proxy takes `user,pass` instead"))
            .label("ignored"),
    };
    finding = finding.note(format!("The fields are {}.", listed(&mut CacheField::ALL.into_iter())));
    let separated = separated(&cited, trap);
    let safety = if separated.is_some() { Safety::Safe } else { Safety::Unsafe };
    match separated.or_else(|| meant(&cited).map(str::to_owned)) {
        Some(text) => {
            finding.help(format!("write `{text}`")).fix(word.replaced("write the field's name", safety, text))
        }
        None => finding.help("remove it, or write the field that is meant"),
    }
}

/// `word` stands where the seconds belong, and holds fields: the list has a space in it.
pub(crate) fn apart(list: &Arg<'_>, word: &Arg<'_>) -> Option<Finding> {
    let text = str::from_utf8(&word.value).ok()?.trim_matches(',');
    let names = || text.split(',').map(|name| CacheField::ALL.into_iter().find(|field| field.name() == name));
    if !names().all(|field| field.is_some()) || list.at.file != word.at.file {
        return None;
    }
    let gap = Loc { file: word.at.file, span: Span::new(list.at.span.end, word.at.span.start) };
    let comma = if list.value.ends_with(b",") || word.value.starts_with(b",") { "" } else { "," };
    let finding = RULE
        .finding(
            word.at,
            format!("`{text}` stands apart from the fields, so 3proxy reads it as the seconds: as 0"),
        )
        .label("not in the key")
        .help("write the fields as one word");
    Some(finding.fix(Fix::replace("write the fields as one word", Safety::Safe, gap, comma)))
}

/// Fields behind another separator than a comma: the same fields, as they should be written.
fn separated(word: &str, trap: CacheTrap) -> Option<String> {
    let CacheTrap::Misread(fields) = trap else { return None };
    let list = word.replace([';', '+', '|', ':', '/', '.'], ",");
    let reading = cache_fields(list.as_bytes());
    (list != word && reading.traps.is_empty() && reading.value == fields).then_some(list)
}

/// The field that a word most likely stands for.
fn meant(word: &str) -> Option<&'static str> {
    let word = word.to_ascii_lowercase();
    let known = [
        ("dstip", "dstaddr"),
        ("dst", "dstaddr"),
        ("target", "dstaddr"),
        ("host", "dsthost"),
        ("dstname", "dsthost"),
        ("port", "dstport"),
        ("oper", "dstoper"),
        ("operation", "dstoper"),
        ("password", "pass"),
        ("username", "user"),
        ("login", "user"),
        ("srcip", "ip"),
        ("srcaddr", "ip"),
        ("clientip", "ip"),
        ("srvip", "srvaddr"),
        ("extip", "ext"),
    ];
    let same = CacheField::ALL.into_iter().map(CacheField::name).find(|name| *name == word);
    let other = || known.into_iter().find(|(wrong, _)| *wrong == word).map(|(_, right)| right);
    let near = || closest(word.as_bytes(), CacheField::ALL.into_iter().map(CacheField::name));
    same.or_else(other).or_else(near)
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::{check, findings};

    #[test]
    fn a_misspelt_field_finds_the_one_that_is_meant() {
        for (written, meant) in [("usr", "user"), ("dstadr", "dstaddr"), ("hst", ""), ("login", "user")] {
            let found = findings("authcache-unknown-field", &format!("authcache ip,{written} 60\n"));
            let texts: Vec<_> =
                found.iter().filter_map(|found| found.fix.as_ref()).map(|fix| &fix.edits[0].text).collect();
            assert_eq!(texts.first().map_or("", |text| text.as_str()), meant, "{written}");
        }
    }

    #[test]
    fn says_what_3proxy_reads() {
        check(
            "authcache-unknown-field",
            r"
authcache userip 60
#         ^ `userip` is not a field: 3proxy reads `ip`, `user` in it
authcache ip,port 60
#            ^ `port` is not a field, so it is not in the key
authcache USER 60
#         ^ `USER` is not a field: 3proxy takes `user,pass` instead
authcache nouser 60
#         ^ `nouser` is not a field: 3proxy reads `user` in it
authcache ip,,user, 60
authcache user;password 60
",
        );
    }
}
