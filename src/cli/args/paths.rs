//! The files and directories that a command reads, positional or with `-f`.

use clap::Args as ClapArgs;

/// What a command reads. Every command that reads objects or CRDs and has no other positional argument takes these.
#[derive(Clone, Debug, Default, ClapArgs)]
pub struct Paths {
    /// Files or directories to read (YAML or JSON), `-` for standard input
    #[arg(value_name = "PATH", required_unless_present = "filenames")]
    pub positional: Vec<String>,
    /// A file or directory to read, `-` for standard input; may be repeated
    #[arg(short = 'f', long = "filename", value_name = "PATH")]
    pub filenames: Vec<String>,
    /// Read the directories below the given ones, too
    #[arg(short = 'R', long)]
    pub recursive: bool,
}

impl Paths {
    /// All paths in the order in which they are read: those of `-f` first, so that `-f a b` reads `a` before `b`.
    pub fn all(&self) -> Vec<String> {
        self.filenames.iter().chain(&self.positional).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::cli::args::{Args, Command};
    use clap::Parser;

    fn parse(line: &str) -> Command {
        Args::try_parse_from(line.split(' ')).unwrap().command
    }

    #[test]
    fn a_flag_takes_one_value_and_the_rest_are_paths() {
        let Command::Validate(args) = parse("crdx validate -f ok.yaml --crds crds bad.yaml --old old.yaml worse.yaml")
        else {
            panic!()
        };
        assert_eq!(args.inputs.paths.all(), ["ok.yaml", "bad.yaml", "worse.yaml"]);
        assert_eq!((args.inputs.crds, args.updates.old), (vec!["crds".to_owned()], vec!["old.yaml".to_owned()]));
    }

    #[test]
    fn a_flag_may_be_repeated() {
        let Command::Diff(args) = parse("crdx diff -f a -f b --crds c --crds d --old e --old f") else { panic!() };
        assert_eq!((args.inputs.paths.all(), args.inputs.crds, args.updates.old), (v("a b"), v("c d"), v("e f")));
        let Command::Serve(args) = parse("crdx serve --load a --load b") else { panic!() };
        assert_eq!(args.load, v("a b"));
        assert!(Args::try_parse_from("crdx serve --load a b".split(' ')).is_err());
    }

    #[test]
    fn other_positional_arguments_may_follow_a_flag() {
        let Command::Get(args) = parse("crdx get -f dir --crds crds crontabs") else { panic!() };
        assert_eq!((args.words, args.filenames, args.crds), (v("crontabs"), v("dir"), v("crds")));
        let Command::Scale(args) = parse("crdx scale --replicas 1 -f dir --crds crds crontab/a") else { panic!() };
        assert_eq!((args.words, args.filenames), (v("crontab/a"), v("dir")));
        let Command::Rehearse(args) = parse("crdx rehearse --old old.yaml -f objects new.yaml") else { panic!() };
        assert_eq!((args.definition.as_str(), args.filenames), ("new.yaml", v("objects")));
        let Command::Lint(args) = parse("crdx lint --old old.yaml new.yaml") else { panic!() };
        assert_eq!((args.paths.all(), args.old), (v("new.yaml"), v("old.yaml")));
        let Command::Cel(args) = parse("crdx cel -f a.yaml --crds crds self.a") else { panic!() };
        assert_eq!((args.expression.as_str(), args.crds), ("self.a", v("crds")));
        let Command::Rbac(args) = parse("crdx rbac --crds crds crontabs.example.com") else { panic!() };
        assert_eq!((args.resources, args.crds), (v("crontabs.example.com"), v("crds")));
    }

    #[test]
    fn a_command_without_a_path_is_bad_usage() {
        for command in ["validate", "diff", "lint"] {
            assert!(Args::try_parse_from(["crdx", command]).is_err(), "{command}");
            assert!(Args::try_parse_from(["crdx", command, "-f", "a"]).is_ok(), "{command}");
            assert!(Args::try_parse_from(["crdx", command, "a"]).is_ok(), "{command}");
        }
    }

    fn v(words: &str) -> Vec<String> {
        words.split(' ').map(str::to_owned).collect()
    }
}
