//! One line of an export into one row. Start at [`insert`]. Invariant: a column's name goes into a
//! statement only when the table has such a column.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rusqlite::types::Value as Column;
use rusqlite::{Connection, params_from_iter};
use sdk::Failure;
use serde_json::{Map, Value};

use crate::aggregates::AGGREGATES;
use crate::error::StoreError;

pub(super) fn insert(connection: &Connection, name: &str, fields: Map<String, Value>) -> Result<(), StoreError> {
    let Some(aggregate) = AGGREGATES.iter().find(|aggregate| aggregate.name == name) else {
        return Err(Failure::invalid(format!("this Menshen does not know what \"{name}\" is")).into());
    };
    let known = columns_of(connection, aggregate.table)?;
    let mut columns = Vec::new();
    let mut values = Vec::new();
    for (column, value) in fields {
        if !known.contains(&column) || aggregate.left_out.contains(&column.as_str()) {
            return Err(Failure::invalid(format!("\"{name}\" has no \"{column}\"")).into());
        }
        columns.push(column);
        values.push(to_column(value)?);
    }
    let places = vec!["?"; columns.len()].join(", ");
    let statement = format!("INSERT INTO {} ({}) VALUES ({places})", aggregate.table, columns.join(", "));
    connection.prepare_cached(&statement)?.execute(params_from_iter(values))?;
    Ok(())
}

fn columns_of(connection: &Connection, table: &str) -> Result<Vec<String>, StoreError> {
    let mut statement = connection.prepare_cached("SELECT name FROM pragma_table_info(?1)")?;
    let found = statement.query_map([table], |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(found)
}

fn to_column(value: Value) -> Result<Column, StoreError> {
    let odd = || StoreError::from(Failure::invalid("a value is neither text, number nor base64"));
    Ok(match value {
        Value::Null => Column::Null,
        Value::String(text) => Column::Text(text),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => Column::Integer(whole),
            (None, Some(real)) => Column::Real(real),
            (None, None) => return Err(odd()),
        },
        Value::Object(object) => {
            let text = object.get("base64").and_then(Value::as_str).ok_or_else(odd)?;
            Column::Blob(STANDARD.decode(text).map_err(|_| odd())?)
        }
        _ => return Err(odd()),
    })
}
