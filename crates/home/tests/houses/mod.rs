//! Which real houses there are to test against: `MENSHEN_HOUSES` lists JSON files, colon separated.

use home::{Endpoint, Tls, Token};
use serde_json::Value;

pub struct RealHouse {
    pub base_url: String,
    pub token: Token,
    pub version: String,
}

impl RealHouse {
    pub fn endpoint(&self) -> Endpoint {
        Endpoint::parse(&self.base_url, Tls::SystemRoots).unwrap_or_else(|error| panic!("{error}"))
    }
}

/// All houses that were named; where there are none, says so and gives nothing.
pub fn each_house(test: &str) -> Vec<RealHouse> {
    let files = std::env::var("MENSHEN_HOUSES").unwrap_or_default();
    let houses: Vec<_> = files.split(':').filter(|path| !path.is_empty()).map(read).collect();
    if houses.is_empty() {
        println!("left out: {test}: no house");
    }
    houses
}

fn read(path: &str) -> RealHouse {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let file: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
    let field = |name: &str| file[name].as_str().unwrap_or_else(|| panic!("{path} lacks {name}")).to_owned();
    RealHouse { base_url: field("baseUrl"), token: Token::new(&field("token")), version: field("version") }
}

impl RealHouse {
    pub fn settings(&self) -> home::Settings {
        home::Settings { url: Some(self.base_url.clone()), token: Some(self.token.clone()), ..Default::default() }
    }
}
