//! Server-side apply. Not built yet: every apply is refused.

use crate::api::context::{Answer, Context};
use crate::api::options::WriteOptions;
use crate::api::serving::{Serving, Version};
use crate::api::status::Refusal;
use crate::api::update::Part;

/// Answers an apply.
pub(super) fn apply(
    _ctx: &mut Context<'_>,
    _serving: &Serving,
    _version: &Version,
    _part: Part,
    _options: &WriteOptions,
) -> Result<Answer, Refusal> {
    Err(Refusal::internal("server-side apply is not simulated yet"))
}
