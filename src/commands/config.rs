//! `config`: prints the settings of the file and the variables, and where each is set.

pub mod args;

use crate::commands::command_line::{self, Args};
use crate::commands::configured;
use crate::commands::error::Error;
use crate::commands::exit::Exit;
use crate::commands::terminal::{Content, Stream};
use crdx_input::configuration::{FILE_NAME, Origin, Setting, SettingKey, Settings, is_unknown};
use crdx_input::remote::url;
use crdx_output::printable::{complain, complain_all};
use crdx_output::report::members::location_object;
use crdx_output::{Cell, Column, bounded_table};
use crdx_value::{Map, Value, json, object};
use std::env;

/// The columns of the table.
const COLUMNS: &[Column] = &[Column::text("KEY"), Column::text("VALUE"), Column::always("FROM")];

/// Runs the command.
pub fn run(args: &Args, is_json: bool) -> Result<Exit, Error> {
    let read = configured::read(args);
    let mut names: Vec<String> = env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned()).collect();
    names.retain(|name| is_unknown(name));
    names.sort();
    for name in names {
        complain!("warning: the variable {name} has no effect: the variables are {}", variables());
    }
    let settings = match read {
        Ok(settings) => settings,
        Err(error) => {
            complain_all(&format!("{error}\n"));
            return Ok(Exit::CannotTell);
        }
    };
    if let Err(text) = configured::check_output(&settings, &command_line::definition()) {
        complain_all(&format!("{text}\n"));
        return Ok(Exit::CannotTell);
    }
    let mut out = Stream::stdout(args.global.color, Content::json_if(is_json));
    let text = if is_json { report(&settings) } else { table(&settings, &out) };
    out.write.write_all(text.as_bytes())?;
    out.write.flush()?;
    Ok(Exit::Accepted)
}

fn variables() -> String {
    let names = SettingKey::ALL.map(SettingKey::variable);
    format!("{}, CRDX_CONFIG, CRDX_NO_CONFIG and CRDX_CACHE", names.join(", "))
}

/// The values, without the credentials of URLs.
fn names(setting: &Setting) -> Vec<String> {
    setting.values.iter().map(|value| url::name(value)).collect()
}

fn table(settings: &Settings, out: &Stream) -> String {
    let file = match &settings.file {
        Some(file) => format!("The settings of {file} apply.\n"),
        None => format!("No file {FILE_NAME} applies.\n"),
    };
    let row = |key: SettingKey| {
        let (values, origin) = match settings.settings.get(&key) {
            Some(setting) => (names(setting).join(", "), setting.origin.to_string()),
            None => ("-".to_owned(), "default".to_owned()),
        };
        vec![Cell::from(key.name()), Cell::from(values), Cell::from(origin)]
    };
    format!("{file}\n{}", bounded_table::table(COLUMNS, out.look(), &SettingKey::ALL.map(row)))
}

fn report(settings: &Settings) -> String {
    let setting = |(key, setting): (&SettingKey, &Setting)| {
        let source = match &setting.origin {
            Origin::File(location) => object([("type", "file".into()), ("location", location_object(location))]),
            Origin::Variable(name) => object([("type", "variable".into()), ("name", Value::from(*name))]),
        };
        let values: Vec<Value> = names(setting).into_iter().map(Value::from).collect();
        object([("key", key.name().into()), ("values", values.into()), ("source", source)])
    };
    let all: Vec<Value> = settings.settings.iter().map(setting).collect();
    let mut report =
        Map::from([("apiVersion".to_owned(), "crdx/v1".into()), ("kind".to_owned(), "ConfigReport".into())]);
    report.extend(settings.file.as_deref().map(|file| ("file".to_owned(), file.into())));
    report.insert("settings".to_owned(), all.into());
    json::to_string(&report.into()) + "\n"
}
