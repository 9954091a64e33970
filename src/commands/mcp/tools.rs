//! The tools: which command each of them runs, and its arguments.

use crdx_value::{Map, Value, object};

/// A command as a tool.
#[derive(Debug)]
pub struct Tool {
    /// The name of the tool and of the command.
    pub name: &'static str,
    pub description: &'static str,
    /// The flags that every call has.
    pub flags: &'static [&'static str],
    pub parameters: &'static [Parameter],
}

/// An argument of a tool.
#[derive(Debug)]
pub struct Parameter {
    pub name: &'static str,
    pub description: &'static str,
    pub form: Form,
    pub is_required: bool,
}

/// The form in which the command takes an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The values of a flag, which are paths.
    PathsOf(&'static str),
    /// The value of a flag, which is a path.
    PathOf(&'static str),
    /// The value of a flag, which is a text.
    TextOf(&'static str),
    /// A flag without a value.
    Switch(&'static str),
    /// Paths after all flags.
    Paths,
    /// A text after all flags.
    Text,
    /// The text of standard input, which this flag reads.
    Input(&'static str),
}

const fn parameter(name: &'static str, form: Form, description: &'static str) -> Parameter {
    Parameter { name, description, form, is_required: false }
}

const fn required(name: &'static str, form: Form, description: &'static str) -> Parameter {
    Parameter { name, description, form, is_required: true }
}

const PATHS: Parameter = parameter("paths", Form::Paths, "Files and directories with manifests");
const MANIFEST: Parameter =
    parameter("manifest", Form::Input("-f"), "YAML or JSON to check in place of files; may have its CRD");
const CRDS: Parameter =
    parameter("crds", Form::PathsOf("--crds"), "Files and directories with CustomResourceDefinitions");
const OLD: Parameter =
    parameter("old", Form::PathOf("--old"), "A file or directory with the existing objects, for an update");
const VERSION: Parameter = parameter(
    "kubernetesVersion",
    Form::TextOf("--kubernetes-version"),
    "The minor version of Kubernetes to simulate, as 1.N",
);
const POLICIES: Parameter = parameter(
    "policies",
    Form::PathsOf("--policies"),
    "Files and directories with admission policies and their bindings",
);

/// All tools.
pub const ALL: &[Tool] = &[
    Tool {
        name: "validate",
        description: "Validates objects as the API server would: verdicts, errors with their lines, pruned and defaulted fields",
        flags: &["-o", "json", "--offline"],
        parameters: &[PATHS, MANIFEST, CRDS, OLD, POLICIES, VERSION],
    },
    Tool {
        name: "diff",
        description: "Shows the changes to existing objects, as the API server would store them",
        flags: &["-o", "json", "--offline"],
        parameters: &[PATHS, MANIFEST, CRDS, OLD, POLICIES, VERSION],
    },
    Tool {
        name: "lint",
        description: "Checks CRDs as the API server would: errors, costs of CEL rules, rules that cannot work, and changes that break stored objects",
        flags: &["-o", "json", "--offline"],
        parameters: &[PATHS, MANIFEST, OLD, VERSION],
    },
    Tool {
        name: "example",
        description: "A valid object of a CRD or a built-in kind, in YAML with the descriptions of its fields",
        flags: &["--offline"],
        parameters: &[
            required("type", Form::Text, "The resource, such as crontabs or deployments"),
            CRDS,
            parameter("minimal", Form::Switch("--minimal"), "Only the required fields"),
            VERSION,
        ],
    },
    Tool {
        name: "explain",
        description: "The fields of a resource with their types and descriptions",
        flags: &["--rules"],
        parameters: &[
            required("type", Form::Text, "The resource and the field, such as crontabs.spec"),
            required("crds", Form::PathsOf("--crds"), "Files and directories with CustomResourceDefinitions"),
            parameter("recursive", Form::Switch("--recursive"), "Print nested fields"),
        ],
    },
    Tool {
        name: "cel",
        description: "Evaluates a CEL expression as a validation rule of a CRD, with its estimated cost",
        flags: &["-o", "json"],
        parameters: &[
            required("expression", Form::Text, "The expression, as in x-kubernetes-validations"),
            parameter("manifest", Form::Input("-f"), "The object that is self, in YAML or JSON; may have its CRD"),
            CRDS,
            parameter("at", Form::TextOf("--at"), "The field of the object that is self, such as spec.ports[0]"),
            parameter("old", Form::PathOf("--old"), "A file with the old object, for oldSelf"),
            VERSION,
        ],
    },
];

impl Tool {
    /// The description of the tool for a client.
    pub fn describe(&self) -> Value {
        let properties: Map = self.parameters.iter().map(|one| (one.name.to_owned(), one.schema())).collect();
        let required = self.parameters.iter().filter(|one| one.is_required).map(|one| Value::from(one.name));
        let schema = object([
            ("additionalProperties", Value::Bool(false)),
            ("properties", properties.into()),
            ("required", required.collect::<Vec<_>>().into()),
            ("type", "object".into()),
        ]);
        let annotations = object([("openWorldHint", false), ("readOnlyHint", true)]);
        object([
            ("annotations", annotations),
            ("description", self.description.into()),
            ("inputSchema", schema),
            ("name", self.name.into()),
        ])
    }
}

impl Parameter {
    fn schema(&self) -> Value {
        let type_ = match self.form {
            Form::PathsOf(_) | Form::Paths => "array",
            Form::Switch(_) => "boolean",
            Form::PathOf(_) | Form::TextOf(_) | Form::Text | Form::Input(_) => "string",
        };
        let items = (type_ == "array").then(|| ("items", object([("type", "string")])));
        object([("description", Value::from(self.description)), ("type", type_.into())].into_iter().chain(items))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::command_line::definition;

    #[test]
    fn every_tool_is_a_command_with_these_flags() {
        let definition = definition();
        for tool in ALL {
            let command = definition.find_subcommand(tool.name).unwrap();
            let flags = tool.parameters.iter().filter_map(|parameter| match parameter.form {
                Form::PathsOf(flag)
                | Form::PathOf(flag)
                | Form::TextOf(flag)
                | Form::Switch(flag)
                | Form::Input(flag) => Some(flag),
                Form::Paths | Form::Text => None,
            });
            for flag in flags.chain(tool.flags.iter().copied().filter(|flag| flag.starts_with('-'))) {
                let is_it = |arg: &clap::Arg| match flag.strip_prefix("--") {
                    Some(long) => arg.get_long() == Some(long),
                    None => arg.get_short() == flag.chars().nth(1),
                };
                assert!(command.get_arguments().any(is_it), "{}: {flag}", tool.name);
            }
        }
    }

    #[test]
    fn required_arguments_are_named() {
        let cel = ALL.iter().find(|tool| tool.name == "cel").unwrap().describe();
        assert_eq!(cel.at(&["inputSchema", "required"]), Some(&vec![Value::from("expression")].into()));
        assert_eq!(cel.str_at(&["inputSchema", "properties", "crds", "type"]), Some("array"));
    }
}
