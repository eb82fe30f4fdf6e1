//! Makes the lesser user that acts, so that the administrator's token only reads. Start at
//! [`lesser_user`]. Invariant: it makes one user and one token, and calls no service of the house.

use anyhow::{Context, Result, bail};
use home::{Endpoint, Token, Wire};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

const GROUP: &str = "system-users";
const TOKEN_DAYS: u32 = 3650;

/// A new user in the ordinary group, and a lasting token of its own.
pub async fn lesser_user(endpoint: &Endpoint, administrator: &Token) -> Result<Token> {
    let mut wire = Wire::open(endpoint, administrator).await?;
    let password = random()?;
    // Log-in names are unique in a house, and an earlier set-up may have made one.
    let username: String = "menshen-".chars().chain(random()?.chars().take(8)).collect();
    let made = wire
        .command("config/auth/create", json!({"name": "Menshen", "group_ids": [GROUP], "local_only": false}))
        .await?;
    let id = made["user"]["id"].as_str().context("the house made no user")?.to_owned();
    let credentials = json!({"user_id": id, "username": username, "password": password});
    if let Err(error) = wire.command("config/auth_provider/homeassistant/create", credentials).await {
        // The user without a login is of no use to anybody.
        _ = wire.command("config/auth/delete", json!({"user_id": id})).await;
        return Err(error.into());
    }
    let access = log_in(endpoint, &username, &password).await?;
    let mut own = Wire::open(endpoint, &Token::new(&access)).await?;
    let token =
        own.command("auth/long_lived_access_token", json!({"client_name": "menshen", "lifespan": TOKEN_DAYS})).await?;
    Ok(Token::new(token.as_str().context("the house gave no token")?))
}

/// Nobody knows it: the password is thrown away after the log-in, the token is what stays.
fn random() -> Result<String> {
    let mut bytes = [0u8; 32];
    std::io::Read::read_exact(
        &mut std::fs::File::open("/dev/urandom").context("no source of randomness")?,
        &mut bytes,
    )?;
    Ok(Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect())
}

async fn log_in(endpoint: &Endpoint, username: &str, password: &str) -> Result<String> {
    let client = endpoint.http_client()?;
    let client_id = endpoint.http_url("/");
    let send = async |path: &str, body: Value| -> Result<Value> {
        let answer = client.post(endpoint.http_url(path)).json(&body).send().await?;
        Ok(answer.error_for_status()?.json().await?)
    };
    let begin = json!({"client_id": client_id, "handler": ["homeassistant", null], "redirect_uri": client_id});
    let flow = send("/auth/login_flow", begin).await?;
    let id = flow["flow_id"].as_str().context("the house has no log-in by password")?;
    let done = send(
        &format!("/auth/login_flow/{id}"),
        json!({"client_id": client_id, "username": username, "password": password}),
    )
    .await?;
    let Some(code) = done["result"].as_str() else { bail!("the house refused the new user's log-in") };
    let form = [("client_id", client_id.as_str()), ("grant_type", "authorization_code"), ("code", code)];
    let answer = client.post(endpoint.http_url("/auth/token")).form(&form).send().await?;
    let access: Value = answer.error_for_status()?.json().await?;
    Ok(access["access_token"].as_str().context("the house gave no access token")?.to_owned())
}
