//! Notes about a state file that was opened.

use std::fmt;

/// What the user should know about a state file that was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateNote {
    /// It was written by an earlier build.
    EarlierFormat,
    /// Its last line is incomplete.
    IncompleteLine,
    /// Others could read or write it; its former mode.
    WasOpen(u32),
}

impl fmt::Display for StateNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EarlierFormat => f.write_str(
                "the file is of an earlier build, whose lines have no checksums; it was rewritten with checksums, and earlier builds cannot read it any more",
            ),
            Self::IncompleteLine => f.write_str(
                "the last line is incomplete and was left out: the server was stopped before it answered that write; restore a copy if the file was damaged otherwise",
            ),
            Self::WasOpen(mode) => {
                write!(f, "other users had access to the file (mode {mode:04o}); now only its owner has")
            }
        }
    }
}
