//! Reading the house's JSON without breaking on one odd field.
//!
//! Start at [`Loose`] (one scalar or list of any kind) and [`each`] (a long list, element by
//! element, so that a house of 50,000 entities is never in memory twice). Invariant: a field of an
//! unexpected type counts as absent; only text that is no JSON is an error.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A scalar, or a list of texts; anything else is `Nothing`.
#[derive(Debug, Default, PartialEq)]
pub(crate) enum Loose<'a> {
    #[default]
    Nothing,
    Bool(bool),
    Number(f64),
    Text(Cow<'a, str>),
    List(Vec<Cow<'a, str>>),
}

impl<'a> Loose<'a> {
    /// Text that is not empty; a whole number counts as text, since some ids are numbers.
    pub fn text(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Text(text) if !text.trim().is_empty() => Some(Cow::Borrowed(text)),
            Self::Number(number) => Some(Cow::Owned(number.to_string())),
            _ => None,
        }
    }

    /// Text as it stands, empty as well.
    pub fn raw(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    pub fn bool(&self) -> Option<bool> {
        if let Self::Bool(value) = self { Some(*value) } else { None }
    }

    pub fn number(&self) -> Option<f64> {
        if let Self::Number(value) = self { Some(*value) } else { None }
    }

    /// The texts of a list, or the one text.
    pub fn texts(&self) -> &[Cow<'a, str>] {
        match self {
            Self::List(list) => list,
            Self::Text(text) => std::slice::from_ref(text),
            _ => &[],
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Loose<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LooseVisitor)
    }
}

struct LooseVisitor;

impl<'de> Visitor<'de> for LooseVisitor {
    type Value = Loose<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Loose::Nothing)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Loose::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Loose::Number(value as f64))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Loose::Number(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok(Loose::Number(value))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Loose::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Loose::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while let Some(element) = seq.next_element::<Loose<'de>>()? {
            if let Loose::Text(text) = element {
                list.push(text);
            }
        }
        Ok(Loose::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Loose::Nothing)
    }
}

/// The pairs of an object in their order; anything but an object has none.
#[derive(Debug)]
pub(crate) struct Pairs<'a, T>(pub Vec<(Cow<'a, str>, T)>);

impl<T> Default for Pairs<'_, T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de: 'a, 'a, T: Deserialize<'de>> Deserialize<'de> for Pairs<'a, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PairsVisitor(PhantomData))
    }
}

struct PairsVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for PairsVisitor<T> {
    type Value = Pairs<'de, T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Pairs::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Pairs::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut pairs = Vec::with_capacity(map.size_hint().unwrap_or(0));
        while let Some(Loose::Text(key)) = map.next_key()? {
            pairs.push((key, map.next_value()?));
        }
        Ok(Pairs(pairs))
    }
}

/// Calls `take` with each element of a JSON list, as it is read.
pub(crate) fn each<'de, T: Deserialize<'de>>(json: &'de str, take: impl FnMut(T)) -> Result<(), serde_json::Error> {
    struct Each<T, F>(F, PhantomData<T>);
    impl<'de, T: Deserialize<'de>, F: FnMut(T)> Visitor<'de> for Each<T, F> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list")
        }

        fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<(), A::Error> {
            while let Some(element) = seq.next_element()? {
                (self.0)(element);
            }
            Ok(())
        }
    }
    let mut deserializer = serde_json::Deserializer::from_str(json);
    deserializer.deserialize_seq(Each(take, PhantomData))?;
    deserializer.end()
}

/// Equal texts share one allocation. Bounded: when full, a text simply gets its own.
#[derive(Debug, Default)]
pub(crate) struct Pool(HashSet<Arc<str>>);

/// Distinct short texts (platforms, classes, areas, devices, states) kept for sharing.
const POOL_TEXTS_MAX: usize = 20_000;

impl Pool {
    pub fn share(&mut self, text: &str) -> Arc<str> {
        if let Some(shared) = self.0.get(text) {
            return shared.clone();
        }
        let fresh: Arc<str> = text.into();
        if self.0.len() < POOL_TEXTS_MAX {
            self.0.insert(fresh.clone());
        }
        fresh
    }

    pub fn share_text(&mut self, loose: &Loose<'_>) -> Option<Arc<str>> {
        loose.text().map(|text| self.share(&text))
    }

    pub fn share_texts(&mut self, loose: &Loose<'_>) -> Vec<Arc<str>> {
        loose.texts().iter().filter(|text| !text.trim().is_empty()).map(|text| self.share(text)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, expected: Loose<'_>) {
        assert_eq!(serde_json::from_str::<Loose<'_>>(json).unwrap(), expected);
    }

    #[test]
    fn a_field_of_an_unexpected_type_counts_as_absent() {
        check("null", Loose::Nothing);
        check(r#"{"a": [1, {"b": 2}]}"#, Loose::Nothing);
        check(r#"[null, "a", 3, ["b"]]"#, Loose::List(vec!["a".into()]));
        check(r#""\u6c49""#, Loose::Text("汉".into()));
        let pairs: Pairs<'_, Loose<'_>> = serde_json::from_str("[1, 2]").unwrap();
        assert!(pairs.0.is_empty());
    }

    #[test]
    fn a_numeric_id_is_read_as_text() {
        let loose: Loose<'_> = serde_json::from_str("1234").unwrap();
        assert_eq!(loose.text().as_deref(), Some("1234"));
    }
}
