//! One model behind one address. Start at [`Source::new`].
//!
//! Invariants: `ask` is ready when the model has begun to answer; dropping the stream closes the
//! connection; the last item is [`Delta::End`] or an error.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use futures_util::stream;
use kernel::ports::{Abilities, BoxFuture, Delta, DeltaStream, LlmSource, SourceError, SourceErrorKind, SourceRequest};
use serde_json::Value;
use tokio::time::Instant;

use crate::answer::{Answer, Observed};
use crate::config::{Config, ConfigError, Settled};
use crate::decode::Decoder;
use crate::fault::Fault;
use crate::http::{Body, Http};
use crate::names::Names;
use crate::secret::Secret;
use crate::wire::{self, Wire};

/// A source that speaks one of the three wire formats.
#[derive(Clone)]
pub struct Source {
    shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub settled: Settled,
    pub wire: &'static dyn Wire,
    pub http: Http,
}

impl Source {
    pub fn new(config: &Config) -> Result<Self, ConfigError> {
        let settled = config.settle()?;
        let wire = wire::of(settled.kind);
        let http = Http::new(&settled, wire.headers(&settled))?;
        Ok(Self { shared: Arc::new(Shared { settled, wire, http }) })
    }

    pub fn config(&self) -> &Config {
        &self.shared.settled.config
    }

    /// Where it is asked, for people to see.
    pub fn address(&self) -> &str {
        &self.shared.settled.base
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// As [`LlmSource::ask`], with a picture beside the last text and with a look at how the answer came.
    pub(crate) async fn ask_observed(
        &self,
        request: SourceRequest,
        picture: Option<&str>,
    ) -> Result<(DeltaStream, Arc<Mutex<Observed>>), SourceError> {
        let mut body = self.shared.wire.body(&self.shared.settled, &request);
        if let Some(png) = picture {
            self.shared.wire.add_picture(&mut body, png);
        }
        let flow = begin(self.shared.clone(), request, body).await?;
        let observed = flow.observed.clone();
        Ok((flow.into_stream(), observed))
    }
}

impl LlmSource for Source {
    fn name(&self) -> String {
        self.shared.settled.name.clone()
    }

    fn abilities(&self) -> Abilities {
        self.shared.settled.abilities()
    }

    fn ask(&self, request: SourceRequest) -> BoxFuture<'static, Result<DeltaStream, SourceError>> {
        let shared = self.shared.clone();
        Box::pin(async move {
            let body = shared.wire.body(&shared.settled, &request);
            Ok(begin(shared, request, body).await?.into_stream())
        })
    }
}

impl Shared {
    pub fn secrets(&self) -> Vec<Secret> {
        let config = &self.settled.config;
        config.extra_headers.values().cloned().chain([config.key.clone()]).collect()
    }

    pub fn error(&self, fault: Fault, language: &str) -> SourceError {
        fault.named(&self.settled.name, language, &self.secrets())
    }
}

async fn begin(shared: Arc<Shared>, request: SourceRequest, body: Value) -> Result<Flow, SourceError> {
    let started = Instant::now();
    let first = started + shared.settled.first;
    let language = request.language.clone();
    let url = shared.wire.endpoint(&shared.settled);
    let opened = shared.http.open(&url, &body, first).await;
    drop(body);
    let body = opened.map_err(|fault| shared.error(fault, &language))?;
    let names = Arc::new(Names::new(request.tools.clone()));
    let answer = Answer::new(&shared.settled, names, Arc::new(request));
    let decoder = Decoder::new(shared.wire.reader(&shared.settled), answer);
    let mut flow = Flow {
        deadline: started + shared.settled.total,
        shared,
        language,
        body,
        decoder,
        ready: VecDeque::new(),
        failed: None,
        over: false,
        observed: Arc::default(),
    };
    while !flow.has_begun() {
        flow.read(first).await;
    }
    match (flow.ready.is_empty(), flow.failed.take()) {
        (true, Some(fault)) => Err(flow.shared.error(fault, &flow.language)),
        (_, failed) => {
            flow.failed = failed;
            Ok(flow)
        }
    }
}

/// An answer under way.
struct Flow {
    shared: Arc<Shared>,
    language: String,
    body: Body,
    decoder: Decoder,
    ready: VecDeque<Delta>,
    failed: Option<Fault>,
    over: bool,
    deadline: Instant,
    observed: Arc<Mutex<Observed>>,
}

impl Flow {
    fn has_begun(&self) -> bool {
        self.over || self.failed.is_some() || self.decoder.has_begun()
    }

    /// One more chunk. Dropping this in the middle loses nothing but the answer itself.
    async fn read(&mut self, deadline: Instant) {
        let read = match self.body.chunk(deadline.min(self.deadline)).await {
            Ok(Some(bytes)) => self.decoder.push(&bytes),
            Ok(None) => {
                self.over = true;
                self.decoder.finish()
            }
            Err(fault) => Err(self.in_the_middle(fault)),
        };
        while let Some(delta) = self.decoder.next() {
            self.ready.push_back(delta);
        }
        if self.decoder.has_ended() {
            self.over = true;
            if let Ok(mut observed) = self.observed.lock() {
                *observed = self.decoder.observed();
            }
        } else if let Err(fault) = read {
            self.failed = Some(fault);
        }
    }

    /// Silence before the first word is a timeout, after it the answer is cut.
    fn in_the_middle(&self, fault: Fault) -> Fault {
        if fault.kind == SourceErrorKind::Timeout && self.decoder.has_begun() {
            Fault::cut(fault.detail)
        } else {
            fault
        }
    }

    fn into_stream(self) -> DeltaStream {
        Box::pin(stream::unfold(Some(self), |flow| async move {
            let mut flow = flow?;
            loop {
                if let Some(delta) = flow.ready.pop_front() {
                    let rest = (!matches!(delta, Delta::End(_))).then_some(flow);
                    return Some((Ok(delta), rest));
                }
                if let Some(fault) = flow.failed.take() {
                    return Some((Err(flow.shared.error(fault, &flow.language)), None));
                }
                if flow.over {
                    return None;
                }
                let deadline = flow.deadline;
                flow.read(deadline).await;
            }
        }))
    }
}
