//! The estimated costs of the rules of a CRD.

use super::manifest::Document;
use super::{Error, ManifestError, Position};
use crdx_engine::lint::bounds::Bound;
use crdx_engine::lint::costs::{ExpressionCost, SchemaCost, costs};
use crdx_server::crd;
use crdx_server::crd::validation::rules::EXPRESSION_COST_LIMIT;
use crdx_value::release::{Release, ReleaseSet};

/// The estimated cost of an expression of a CRD, as the server computes it when the CRD is created.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RuleCost {
    /// The versions of the CRD that have the rule.
    pub versions: Vec<String>,
    /// The values for which it is evaluated, such as `spec.list[*]`.
    pub path: String,
    /// The field of the CRD with the expression.
    pub field: String,
    /// The line and the column of that field, if the CRD was given as a text.
    pub position: Option<Position>,
    /// The expression.
    pub expression: String,
    /// The highest cost of one evaluation.
    pub each: u64,
    /// The highest number of evaluations.
    pub times: u64,
    /// `each * times`, which must not be higher than [`RuleCost::LIMIT`].
    pub total: u64,
    /// The reason why there is no estimate, such as an expression that does not compile.
    pub error: Option<String>,
    /// The limits that together would make the rule cheap enough; empty if it is, or if no limit helps.
    pub sufficient_limits: Vec<SufficientLimit>,
}

/// A limit that would make a rule cheap enough.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SufficientLimit {
    /// The values to limit, such as `spec.ships`.
    pub path: String,
    /// `maxItems`, `maxLength` or `maxProperties`.
    pub keyword: &'static str,
    /// The highest value that is sufficient.
    pub limit: i64,
}

impl RuleCost {
    /// The limit of [`RuleCost::total`]. All rules of a schema together may have ten times this cost.
    pub const LIMIT: u64 = EXPRESSION_COST_LIMIT;

    /// Returns true if the server refuses the CRD because of this cost.
    pub fn is_too_high(&self) -> bool {
        self.total > Self::LIMIT
    }

    pub(super) fn for_crd(document: &Document, release: Release) -> Result<Vec<Self>, Error> {
        if !document.is_definition() {
            return Err(
                ManifestError::new("only a CustomResourceDefinition has rules", document.position("kind")).into()
            );
        }
        let decoded = crd::decode(&document.value);
        let decoded = decoded.map_err(|error| ManifestError::new(error.to_string(), document.position("")))?;
        let Some(releases) = ReleaseSet::from_releases([release]) else { return Ok(Vec::new()) };
        let costs = costs(&decoded.crd.spec, &releases);
        Ok(costs.into_iter().flat_map(|schema| Self::of_schema(schema, document)).collect())
    }

    fn of_schema(schema: SchemaCost, document: &Document) -> Vec<Self> {
        let versions = schema.versions;
        let one = |cost: ExpressionCost| Self {
            versions: versions.clone(),
            position: document.position(&cost.crd_field),
            path: cost.path,
            field: cost.crd_field,
            expression: cost.text,
            each: cost.each,
            times: cost.times,
            total: cost.total,
            error: cost.error,
            sufficient_limits: cost.bounds.iter().map(SufficientLimit::from_bound).collect(),
        };
        schema.expressions.into_iter().map(one).collect()
    }
}

impl SufficientLimit {
    fn from_bound(bound: &Bound) -> Self {
        Self { path: bound.path(), keyword: bound.keyword, limit: bound.limit }
    }
}
