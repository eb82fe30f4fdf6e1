//! Makes the owner of a fresh house and a token for us. Start at [`onboard`].
//!
//! Invariant: it speaks to a house that was started a moment ago by this program, and to no other.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use home::{Cause, Endpoint, Tls, Token, Wire};
use reqwest::{Client, Method};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::record::base_url;

/// Only for a house that is thrown away and listens on 127.0.0.1 alone.
pub const PASSWORD: &str = "test-home-only";
const OWNER: &str = "menshen";
const TOKEN_DAYS: u32 = 3650;
const RUNNING_SECS_MAX: u64 = 240;
/// Longest wait for one answer of a house that is starting.
const STARTING: Duration = Duration::from_secs(120);

pub struct Rest {
    client: Client,
    base: String,
    pub token: String,
}

/// A long-lived administrator's token, and a socket with it.
pub async fn onboard(port: u16, language: &str) -> Result<(Rest, Wire)> {
    let base = base_url(port);
    let endpoint = Endpoint::parse(&base, Tls::SystemRoots)?;
    let mut rest = Rest { client: endpoint.http_client()?, base: base.clone(), token: String::new() };
    let client_id = format!("{base}/");
    let user = json!({"client_id": client_id, "name": "Tester", "username": OWNER, "password": PASSWORD, "language": language});
    let made = rest.send(Method::POST, "/api/onboarding/users", Some(user)).await?;
    let code = made["auth_code"].as_str().context("the house gave no code for its owner")?;
    let form = [("client_id", client_id.as_str()), ("grant_type", "authorization_code"), ("code", code)];
    let answer = rest.client.post(format!("{base}/auth/token")).form(&form).timeout(STARTING).send().await?;
    let access: Value = answer.error_for_status()?.json().await?;
    rest.token = access["access_token"].as_str().context("the house gave no access token")?.to_owned();
    rest.send(
        Method::POST,
        "/api/onboarding/integration",
        Some(json!({"client_id": client_id, "redirect_uri": client_id})),
    )
    .await?;
    let mut wire = patiently(&endpoint, &Token::new(&rest.token)).await?;
    let body = json!({"client_name": "menshen", "lifespan": TOKEN_DAYS});
    let token = wire.command("auth/long_lived_access_token", body).await?;
    rest.token = token.as_str().context("the house gave no lasting token")?.to_owned();
    Ok((rest, wire))
}

/// A socket to a house that may be too busy starting to answer at once.
async fn patiently(endpoint: &Endpoint, token: &Token) -> Result<Wire> {
    let begun = Instant::now();
    loop {
        match Wire::open(endpoint, token).await {
            Err(error) if error.cause == Some(Cause::Timeout) && begun.elapsed() < STARTING => {}
            opened => return Ok(opened?),
        }
    }
}

/// Waits until everything in the house has started.
pub async fn running(wire: &mut Wire) -> Result<()> {
    let begun = Instant::now();
    loop {
        match wire.command("get_config", Value::Null).await {
            Ok(config) if config["state"] == "RUNNING" => return Ok(()),
            // A house with very many entities does nothing else while it makes them.
            Err(error) if error.cause != Some(Cause::Timeout) => return Err(error.into()),
            _ => {}
        }
        if begun.elapsed() > Duration::from_secs(RUNNING_SECS_MAX) {
            bail!("the house answers but has not finished starting after {RUNNING_SECS_MAX} s");
        }
        sleep(Duration::from_millis(100)).await;
    }
}

/// Waits until the entities without meaning are there, and gives a new socket: while they come, the
/// house may be deaf for seconds, and gives up a socket that answers none of its pings.
pub async fn grown(rest: &Rest, count: u32) -> Result<Wire> {
    let begun = Instant::now();
    loop {
        let state = rest.send(Method::GET, "/api/states/bulk_home.entities", None).await.unwrap_or_default();
        if state["state"].as_str().and_then(|state| state.parse().ok()) == Some(count) {
            let endpoint = Endpoint::parse(&rest.base, Tls::SystemRoots)?;
            return Ok(Wire::open(&endpoint, &Token::new(&rest.token)).await?);
        }
        if begun.elapsed() > Duration::from_secs(RUNNING_SECS_MAX) {
            bail!("the house has not made its {count} further entities after {RUNNING_SECS_MAX} s");
        }
        sleep(Duration::from_millis(200)).await;
    }
}

impl Rest {
    pub fn open(base: String, token: String) -> Result<Self> {
        let client = Endpoint::parse(&base, Tls::SystemRoots)?.http_client()?;
        Ok(Self { client, base, token })
    }

    pub async fn send(&self, method: Method, path: &str, body: Option<Value>) -> Result<Value> {
        let mut request = self.client.request(method, format!("{}{path}", self.base)).timeout(STARTING);
        if !self.token.is_empty() {
            request = request.bearer_auth(&self.token);
        }
        if let Some(body) = body {
            request = request.json(&body);
        }
        let answer = request.send().await.with_context(|| format!("{path} was not answered"))?;
        let status = answer.status();
        let text = answer.text().await?;
        if !status.is_success() {
            bail!("{path} answered {status}: {}", text.chars().take(200).collect::<String>());
        }
        Ok(serde_json::from_str(&text).unwrap_or(Value::Null))
    }

    /// Walks through a configuration flow, one body a step, to its end.
    pub async fn flow(&self, handler: &str, steps: &[Value]) -> Result<()> {
        let path = "/api/config/config_entries/flow";
        let mut at = self.send(Method::POST, path, Some(json!({"handler": handler}))).await?;
        for step in steps {
            let id = at["flow_id"].as_str().with_context(|| format!("{handler} has no flow: {at}"))?;
            at = self.send(Method::POST, &format!("{path}/{id}"), Some(step.clone())).await?;
        }
        if at["type"] != "create_entry" {
            bail!("the flow of {handler} did not end: {at}");
        }
        Ok(())
    }
}
