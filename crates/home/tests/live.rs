//! Against real houses, named by `MENSHEN_HOUSES`. Without one, each test says what it left out.

mod houses;

use home::{Cause, Endpoint, ErrorCode, Tls, Token, Wire};
use houses::each_house;
use serde_json::json;

#[tokio::test]
async fn a_plain_wire_opens_and_answers() {
    for house in each_house("a_plain_wire_opens_and_answers") {
        let mut wire = Wire::open(&house.endpoint(), &house.token).await.unwrap();
        assert_eq!(wire.version(), house.version);
        let states = wire.command("get_states", json!({})).await.unwrap();
        assert!(states.as_array().unwrap().len() > 50);
        let error = wire
            .command("no/such/command", json!({}))
            .await
            .unwrap_err();
        assert!(error.is(Cause::UnknownCommand), "{error}");
    }
}

#[tokio::test]
async fn a_bad_token_is_an_auth_error_and_a_closed_port_is_refused() {
    for house in each_house("a_bad_token_is_an_auth_error_and_a_closed_port_is_refused") {
        let error = Wire::open(&house.endpoint(), &Token::new("nonsense"))
            .await
            .err()
            .unwrap();
        assert_eq!(
            (error.code, error.cause),
            (ErrorCode::Auth, Some(Cause::InvalidToken))
        );
        let closed = Endpoint::parse("http://127.0.0.1:9", Tls::SystemRoots).unwrap();
        let error = Wire::open(&closed, &house.token).await.err().unwrap();
        assert_eq!(
            (error.code, error.cause),
            (ErrorCode::Unreachable, Some(Cause::Refused))
        );
    }
}
