//! The part of JSON Schema that `JsonSchemaValid` supports (SPEC §5).
//!
//! Keywords: `type`, `enum`, `const`, `properties`, `required`, `additionalProperties` (boolean),
//! `items` (one schema), `minItems`, `maxItems`, `minLength`, `maxLength` (code points), `minimum`,
//! `maximum`. Any other keyword is refused, so that every keyword of a schema is
//! checked. A keyword says nothing about values of another type than its own. No place of a document
//! is judged by more than one schema, so the cost of a judgement is bounded by the document.

use super::json::{self, Decimal, Json, JsonError};
use std::collections::{BTreeMap, BTreeSet};
use thiserror::Error;

/// A schema, ready to judge documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schema {
    types: Option<BTreeSet<Type>>,
    /// A set, so that a long `enum` is looked up and not walked for every item of a long array.
    allowed: Option<BTreeSet<Json>>,
    constant: Option<Json>,
    properties: BTreeMap<String, Schema>,
    required: BTreeSet<String>,
    closed: bool,
    items: Option<Box<Schema>>,
    item_count: Bounds,
    length: Bounds,
    minimum: Option<Decimal>,
    maximum: Option<Decimal>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Type {
    Null,
    Boolean,
    Object,
    Array,
    Number,
    String,
    Integer,
}

/// Both ends included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Bounds {
    least: u128,
    most: Option<u128>,
}

/// Why a text is no schema.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SchemaError {
    /// The text is no acceptable JSON document.
    #[error("the schema is no acceptable JSON: {0}")]
    Json(#[from] JsonError),
    /// A schema, or a nested one, is something else than an object.
    #[error("a schema must be an object")]
    NotAnObject,
    /// A keyword outside of the supported list.
    #[error("the keyword {0:?} is not supported")]
    UnknownKeyword(String),
    /// A keyword with a value of the wrong kind.
    #[error("the value of {0:?} is of the wrong kind")]
    BadValue(String),
}

impl Schema {
    /// Reads a schema from its text.
    pub fn parse(text: &str) -> Result<Self, SchemaError> {
        Self::read(json::parse(text.as_bytes())?)
    }

    /// Recurses at most as deep as the text of the schema is nested.
    fn read(document: Json) -> Result<Self, SchemaError> {
        let members = object(document).ok_or(SchemaError::NotAnObject)?;
        let mut schema = Self::default();
        for (keyword, value) in members {
            schema.set(&keyword, value)?;
        }
        Ok(schema)
    }

    fn set(&mut self, keyword: &str, value: Json) -> Result<(), SchemaError> {
        let bad = || SchemaError::BadValue(keyword.to_owned());
        match keyword {
            "type" => self.types = Some(types(value).ok_or_else(bad)?),
            "enum" => self.allowed = Some(array(value).ok_or_else(bad)?.into_iter().collect()),
            "const" => self.constant = Some(value),
            "properties" => {
                for (name, schema) in object(value).ok_or_else(bad)? {
                    self.properties.insert(name, Self::read(schema)?);
                }
            }
            "required" => self.required = names(value).ok_or_else(bad)?,
            "additionalProperties" => self.closed = !boolean(value).ok_or_else(bad)?,
            "items" => self.items = Some(Box::new(Self::read(value)?)),
            "minItems" => self.item_count.least = count(value).ok_or_else(bad)?,
            "maxItems" => self.item_count.most = Some(count(value).ok_or_else(bad)?),
            "minLength" => self.length.least = count(value).ok_or_else(bad)?,
            "maxLength" => self.length.most = Some(count(value).ok_or_else(bad)?),
            "minimum" => self.minimum = Some(number(value).ok_or_else(bad)?),
            "maximum" => self.maximum = Some(number(value).ok_or_else(bad)?),
            _ => return Err(SchemaError::UnknownKeyword(keyword.to_owned())),
        }
        Ok(())
    }

    /// Whether a document is valid.
    pub fn accepts(&self, document: &Json) -> bool {
        self.types.as_ref().is_none_or(|types| types.iter().any(|name| name.covers(document)))
            && self.allowed.as_ref().is_none_or(|allowed| allowed.contains(document))
            && self.constant.as_ref().is_none_or(|constant| constant == document)
            && match document {
                Json::Null | Json::Bool(_) => true,
                Json::Number(value) => self.accepts_number(*value),
                Json::String(text) => self.length.hold(text.chars().count()),
                Json::Array(items) => self.accepts_items(items),
                Json::Object(members) => self.accepts_members(members),
            }
    }

    fn accepts_number(&self, value: Decimal) -> bool {
        self.minimum.is_none_or(|minimum| minimum <= value)
            && self.maximum.is_none_or(|maximum| value <= maximum)
    }

    fn accepts_items(&self, items: &[Json]) -> bool {
        self.item_count.hold(items.len())
            && self
                .items
                .as_ref()
                .is_none_or(|schema| items.iter().all(|item| schema.accepts(item)))
    }

    fn accepts_members(&self, members: &BTreeMap<String, Json>) -> bool {
        self.required.iter().all(|name| members.contains_key(name))
            && members.iter().all(|(name, value)| match self.properties.get(name) {
                Some(schema) => schema.accepts(value),
                None => !self.closed,
            })
    }
}

impl Type {
    fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "null" => Self::Null,
            "boolean" => Self::Boolean,
            "object" => Self::Object,
            "array" => Self::Array,
            "number" => Self::Number,
            "string" => Self::String,
            "integer" => Self::Integer,
            _ => return None,
        })
    }

    fn covers(self, value: &Json) -> bool {
        match value {
            Json::Null => self == Self::Null,
            Json::Bool(_) => self == Self::Boolean,
            Json::Object(_) => self == Self::Object,
            Json::Array(_) => self == Self::Array,
            Json::String(_) => self == Self::String,
            Json::Number(number) => {
                self == Self::Number || self == Self::Integer && number.is_integer()
            }
        }
    }
}

impl Bounds {
    fn hold(self, count: usize) -> bool {
        let count = count as u128;
        self.least <= count && self.most.is_none_or(|most| count <= most)
    }
}

/// One name of a type, or a list of them.
fn types(value: Json) -> Option<BTreeSet<Type>> {
    match value {
        Json::String(name) => Some(BTreeSet::from([Type::from_name(&name)?])),
        list => names(list)?.iter().map(|name| Type::from_name(name)).collect(),
    }
}

fn names(value: Json) -> Option<BTreeSet<String>> {
    let name = |item| match item {
        Json::String(name) => Some(name),
        _ => None,
    };
    array(value)?.into_iter().map(name).collect()
}

fn object(value: Json) -> Option<BTreeMap<String, Json>> {
    if let Json::Object(members) = value { Some(members) } else { None }
}

fn array(value: Json) -> Option<Vec<Json>> {
    if let Json::Array(items) = value { Some(items) } else { None }
}

fn boolean(value: Json) -> Option<bool> {
    if let Json::Bool(value) = value { Some(value) } else { None }
}

fn number(value: Json) -> Option<Decimal> {
    if let Json::Number(value) = value { Some(value) } else { None }
}

fn count(value: Json) -> Option<u128> {
    number(value)?.to_unsigned()
}

#[cfg(test)]
mod tests;
