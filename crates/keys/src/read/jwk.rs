//! JSON web keys (RFC 7517, RFC 7518). Lists and sets of keys are read key by key, so that only one
//! key is in memory at a time.

use std::fmt;

use base64ct::{Base64UrlUnpadded, Encoding};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::{Entry, Problem, PublicKey, from_big_endian, printable};

/// The longest text of a field of which a key is made: Base64 of many more bits than moduli have.
const LONGEST_FIELD: usize = 1 << 18;

/// A receiver of the keys of a JSON value: each element of an array, each key of a JWK set, or the
/// value itself. Deserializing it calls the function for every key.
pub(super) struct Keys<'a> {
    receive: &'a mut dyn FnMut(Result<Entry, Problem>),
    /// Whether the value may contain several keys.
    several: bool,
}

impl<'a> Keys<'a> {
    pub(super) fn new(receive: &'a mut dyn FnMut(Result<Entry, Problem>)) -> Self {
        Self { receive, several: true }
    }

    /// Returns the receiver of one key of this value.
    fn one(&mut self) -> Keys<'_> {
        Keys { receive: self.receive, several: false }
    }

    fn no_object<E>(self) -> Result<(), E> {
        (self.receive)(Err(bad("it is not an object")));
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Keys<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Keys<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a JSON web key")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut elements: A) -> Result<(), A::Error> {
        if self.several {
            while elements.next_element_seed(self.one())?.is_some() {}
            return Ok(());
        }
        while elements.next_element::<IgnoredAny>()?.is_some() {}
        self.no_object()
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let (mut key, mut is_set) = (Fields::default(), false);
        while let Some(name) = fields.next_key::<String>()? {
            let field = match name.as_str() {
                "keys" if self.several => {
                    is_set = true;
                    fields.next_value_seed(Keys { receive: self.receive, several: true })?;
                    continue;
                }
                "kty" => &mut key.kty,
                "crv" => &mut key.crv,
                "n" => &mut key.n,
                "e" => &mut key.e,
                _ => {
                    fields.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            *field = fields.next_value_seed(Text)?;
        }
        if !is_set {
            (self.receive)(key.entry());
        }
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        self.no_object()
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        self.no_object()
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        self.no_object()
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        self.no_object()
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        self.no_object()
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.no_object()
    }
}

/// The text of a field; `None` if it is not a text, or too long.
struct Text;

impl<'de> DeserializeSeed<'de> for Text {
    type Value = Option<String>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Text {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a field of a JSON web key")
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok((text.len() <= LONGEST_FIELD).then(|| text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self::Value, A::Error> {
        while elements.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
        while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
}

/// The fields of a key that matter here.
#[derive(Default)]
struct Fields {
    kty: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
}

impl Fields {
    /// Reads the key.
    fn entry(self) -> Result<Entry, Problem> {
        // An algorithm in reports.
        let name = |text: &str| printable(text).chars().take(20).collect::<String>();
        match self.kty.as_deref() {
            None => return Err(bad("it has no \"kty\"")),
            Some("RSA") => {}
            Some("OKP") => return Ok(Entry::Other(name(self.crv.as_deref().unwrap_or("OKP")))),
            Some("oct") => return Ok(Entry::Other("symmetric key".into())),
            Some(other) => return Ok(Entry::Other(name(other))),
        }
        let number = |field: Option<String>, name: &str| {
            let text = field.ok_or_else(|| bad(&format!("it has no \"{name}\"")))?;
            let bytes = Base64UrlUnpadded::decode_vec(text.trim_end_matches('='));
            let bytes = bytes.map_err(|_| bad(&format!("its \"{name}\" is not Base64url")))?;
            Ok(from_big_endian(&bytes))
        };
        Ok(Entry::Rsa(PublicKey {
            modulus: number(self.n, "n")?,
            exponent: Some(number(self.e, "e")?),
        }))
    }
}

fn bad(reason: &str) -> Problem {
    Problem::Jwk(reason.into())
}
