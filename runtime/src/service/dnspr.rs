//! The `dnspr` service: answers queries for names, each a datagram.
//!
//! Addresses come from `-F`, static records, the cache and the name servers, one for each query, as in 3proxy; everything else is
//! passed on to a name server, and its answer back. With `-s` everything that `-F` does not answer is passed on. Where no server answers, the client is told so:
//! one that hears nothing would ask again and again.
//!
//! 3proxy's access list is not told the name, so `allow * * www.example.com` lets every query pass. Here a query that passes is
//! judged again by its name.
use std::{net::IpAddr, time::Duration};

use hickory_proto::rr::RecordType;

use crate::{
    authorize::Asker,
    flow::Place,
    protocol::dns::Query,
    resolve::{Found, Kind, Said, reverse_name},
    session::Session,
};

/// How long an answer holds that does not come from a name server.
const MADE_UP: Duration = Duration::from_secs(3600);
/// The name that 3proxy gives to the address that it listens on.
const OWN_NAME: &str = "3proxy";
/// 3proxy's code for an answer without a record.
const NO_RECORD: u16 = 888;
/// And for a name server that does not answer.
const NO_ANSWER: u16 = 821;

/// Answers the one datagram of a flow.
pub(super) async fn serve(mut place: Place, session: Box<Session>) {
    let flow = place.flow();
    let Some(datagram) = flow.first() else { return };
    if let Some(answer) = answer(&datagram, session, place.is_lost()).await {
        // A client that is gone gets no answer.
        let _ = flow.answer(&answer);
    }
}

/// What a datagram is answered, if it is, and writes its log record. Nothing, once its place is `lost`.
async fn answer(
    datagram: &[u8],
    mut session: Box<Session>,
    lost: impl Future<Output = ()>,
) -> Option<Vec<u8>> {
    session.record.text = text(0, "", None);
    let answered = tokio::select! {
        answered = find(datagram, &mut session) => answered,
        () = lost => Err(NO_ANSWER),
    };
    let (answer, code) = match answered {
        Ok((answer, code)) => (answer, code),
        Err(code) => (None, code),
    };
    session.end(code);
    answer
}

/// The answer and its code, or the code of what is not answered.
async fn find(datagram: &[u8], session: &mut Session) -> Result<(Option<Vec<u8>>, u16), u16> {
    Query::check_length(datagram).map_err(|fault| fault.code())?;
    let asker = Asker::admit(session).await.map_err(|failure| failure.code)?;
    let query = Query::parse(datagram).map_err(|fault| fault.code())?;
    session.record.text = text(query.wanted(), query.name(), None);
    let named = asker.may_ask_for(session, &query.name().to_ascii_lowercase());
    named.map_err(|failure| failure.code)?;
    let said = address(session, &query).await;
    if let Said::Address(found) = said {
        session.record.peer = found.server;
        session.record.text = text(query.wanted(), query.name(), Some(found.address));
        return Ok((query.address(found.address, found.lifetime), 0));
    }
    if is_own_address(session, &query) {
        return Ok((query.pointer(OWN_NAME, MADE_UP), 0));
    }
    let resolver = &session.snapshot.resolver;
    if !resolver.has_servers() {
        return Ok((query.no_such_name(), NO_RECORD));
    }
    // Servers that were silent just now are not waited for once more.
    let replied = if said == Said::Unanswered { None } else { resolver.forward(&query).await };
    let Some((reply, server)) = replied else { return Ok((query.failure(), NO_ANSWER)) };
    session.record.peer = Some(server);
    session.record.from_client = datagram.len() as u64;
    session.record.from_server = reply.bytes.len() as u64;
    Ok((Some(reply.bytes), if reply.answers { 0 } else { NO_RECORD }))
}

/// The address that is asked for, if that can be said without passing the query on.
async fn address(session: &Session, query: &Query) -> Said {
    let options = &session.service.settings.options;
    for (wanted, kind) in [(RecordType::A, Kind::A), (RecordType::AAAA, Kind::Aaaa)] {
        if query.wanted() != u16::from(wanted) {
            continue;
        }
        let made_up = options.fake_answer.map(|address| address.value);
        if let Some(address) = made_up.filter(|address| address.is_ipv6() == (kind == Kind::Aaaa)) {
            return Said::Address(Found { address, lifetime: MADE_UP, server: None });
        }
        if let Some(host) = query.host(wanted).filter(|_| options.single.is_none()) {
            return session.snapshot.resolver.by_servers(&host, kind).await;
        }
    }
    Said::Nothing
}

/// Whether the name of the address is wanted at which this service listens.
fn is_own_address(session: &Session, query: &Query) -> bool {
    let local = session.local.ip();
    !local.is_unspecified() && query.host(RecordType::PTR).is_some_and(|name| name == reverse_name(local))
}

/// `0001/www.example.com/192.0.2.1`, as 3proxy logs it.
fn text(wanted: u16, name: &str, address: Option<IpAddr>) -> Vec<u8> {
    let address = address.map(|address| address.to_string()).unwrap_or_default();
    format!("{wanted:04x}/{name}/{address}").into_bytes()
}

#[cfg(test)]
mod tests;
