//! The agent somebody talks with: of this process, or of a `menshen serve` beside it. Start at
//! [`Talk::open`]. Invariant: both are the same to whoever talks.

use anyhow::{Result, anyhow};
use kernel::agent::AgentEvent;
use kernel::ports::{NewInput, Outgoing};

use super::super::listening::Listener;
use super::super::serving::{self, Place, Serving};
use super::super::socket::{self, Joined, Word};
use crate::config::Options;

pub enum Talk {
    Own { serving: Box<Serving>, listener: Box<Listener> },
    Joined(Box<Joined>),
}

impl Talk {
    /// With the replies of this conversation that nobody has seen yet.
    pub async fn open(options: &Options, place: &Place, session: &str) -> Result<(Self, Vec<Outgoing>)> {
        let serving = match Serving::start(options, place, false).await {
            Ok(serving) => Box::new(serving),
            Err(error) if serving::in_use(&error) => {
                let (language, data) = serving::language_and_folder(options, place)?;
                let (joined, unseen) = Joined::connect(&socket::path_in(&data), session, language).await?;
                return Ok((Self::Joined(Box::new(joined)), unseen));
            }
            Err(error) => return Err(error),
        };
        let (agent, outbox) = (serving.household.agent.clone(), serving.household.store.outbox());
        let mut listener = Box::new(Listener::new(agent, outbox, session));
        let unseen = listener.unseen().await?;
        Ok((Self::Own { serving, listener }, unseen))
    }

    pub async fn put(&mut self, input: NewInput) -> Result<i64> {
        match self {
            Self::Own { serving, listener } => {
                listener.put(input).await.map_err(|failure| anyhow!("{}", socket::refused(serving.language, &failure)))
            }
            Self::Joined(joined) => joined.put(input).await,
        }
    }

    /// The next event of the conversation. May be dropped: nothing is lost.
    pub async fn next(&mut self) -> Result<AgentEvent> {
        match self {
            Self::Own { serving, listener } => {
                listener.next().await.ok_or_else(|| anyhow!("{}", Word::AgentEnded.to(serving.language)))
            }
            Self::Joined(joined) => joined.next().await,
        }
    }

    /// Ends the turn that runs.
    pub async fn stop(&mut self) -> Result<()> {
        match self {
            Self::Own { listener, .. } => {
                listener.stop();
                Ok(())
            }
            Self::Joined(joined) => joined.stop().await,
        }
    }

    /// A reply was shown. The service beside notes that by itself.
    pub async fn seen(&self, turn: &str) {
        if let Self::Own { listener, .. } = self {
            listener.seen(turn).await;
        }
    }

    pub async fn close(self) {
        if let Self::Own { serving, .. } = self {
            serving.close().await;
        }
    }
}
