//! Messages of the kinds that admission needs, and of reviews (`generated.proto` of `admissionregistration/v1`,
//! `authorization/v1`, `authentication/v1` and, for config maps, `core/v1`).

use super::Kind::{
    BoolPointer, Bytes, Inline, Int, IntPointer, Items, Map as MapOf, One, Repeated, Text, TextPointer, Time,
};
use super::{METADATA, Message, SERVICE, unnamed};

/// The message types by group and kind; all of version v1.
static KINDS: [(&str, &str, Message); 12] = [
    (
        "admissionregistration.k8s.io",
        "ValidatingWebhookConfiguration",
        unnamed(&[(1, "metadata", One(&METADATA)), (2, "webhooks", Repeated(&One(&VALIDATING)))]),
    ),
    (
        "admissionregistration.k8s.io",
        "MutatingWebhookConfiguration",
        unnamed(&[(1, "metadata", One(&METADATA)), (2, "webhooks", Repeated(&One(&MUTATING)))]),
    ),
    (
        "admissionregistration.k8s.io",
        "ValidatingAdmissionPolicy",
        unnamed(&[
            (1, "metadata", One(&METADATA)),
            (2, "spec", One(&VALIDATING_POLICY)),
            (3, "status", One(&POLICY_STATUS)),
        ]),
    ),
    (
        "admissionregistration.k8s.io",
        "ValidatingAdmissionPolicyBinding",
        unnamed(&[(1, "metadata", One(&METADATA)), (2, "spec", One(&BINDING))]),
    ),
    (
        "admissionregistration.k8s.io",
        "MutatingAdmissionPolicy",
        unnamed(&[(1, "metadata", One(&METADATA)), (2, "spec", One(&MUTATING_POLICY))]),
    ),
    (
        "admissionregistration.k8s.io",
        "MutatingAdmissionPolicyBinding",
        unnamed(&[(1, "metadata", One(&METADATA)), (2, "spec", One(&BINDING))]),
    ),
    (
        "authorization.k8s.io",
        "SubjectAccessReview",
        unnamed(&[(1, "metadata", One(&METADATA)), (2, "spec", One(&ACCESS))]),
    ),
    (
        "authorization.k8s.io",
        "LocalSubjectAccessReview",
        unnamed(&[(1, "metadata", One(&METADATA)), (2, "spec", One(&ACCESS))]),
    ),
    (
        "authorization.k8s.io",
        "SelfSubjectAccessReview",
        unnamed(&[
            (1, "metadata", One(&METADATA)),
            (
                2,
                "spec",
                One(&unnamed(&[(1, "resourceAttributes", One(&RESOURCE)), (2, "nonResourceAttributes", One(&PATH))])),
            ),
        ]),
    ),
    (
        "authorization.k8s.io",
        "SelfSubjectRulesReview",
        unnamed(&[(1, "metadata", One(&METADATA)), (2, "spec", One(&unnamed(&[(1, "namespace", Text)])))]),
    ),
    ("authentication.k8s.io", "SelfSubjectReview", unnamed(&[(1, "metadata", One(&METADATA))])),
    (
        "authentication.k8s.io",
        "TokenReview",
        unnamed(&[
            (1, "metadata", One(&METADATA)),
            (2, "spec", One(&unnamed(&[(1, "token", Text), (2, "audiences", Repeated(&Text))]))),
        ]),
    ),
];

/// The message type of a kind.
pub(super) fn message_of(api_version: &str, kind: &str) -> Option<&'static Message> {
    let group = api_version.strip_suffix("/v1")?;
    KINDS.iter().find(|(of, name, _)| (*of, *name) == (group, kind)).map(|(_, _, message)| message)
}

pub(super) static CONFIG_MAP: Message = unnamed(&[
    (1, "metadata", One(&METADATA)),
    (2, "data", MapOf(&Text)),
    (3, "binaryData", MapOf(&Bytes)),
    (4, "immutable", BoolPointer),
]);

static VALIDATING: Message = unnamed(&[
    (1, "name", Text),
    (2, "clientConfig", One(&CLIENT)),
    (3, "rules", Repeated(&One(&RULE))),
    (4, "failurePolicy", TextPointer),
    (5, "namespaceSelector", One(&SELECTOR)),
    (6, "sideEffects", TextPointer),
    (7, "timeoutSeconds", IntPointer),
    (8, "admissionReviewVersions", Repeated(&Text)),
    (9, "matchPolicy", TextPointer),
    (10, "objectSelector", One(&SELECTOR)),
    (11, "matchConditions", Repeated(&One(&NAMED_EXPRESSION))),
]);
static MUTATING: Message = unnamed(&[
    (1, "name", Text),
    (2, "clientConfig", One(&CLIENT)),
    (3, "rules", Repeated(&One(&RULE))),
    (4, "failurePolicy", TextPointer),
    (5, "namespaceSelector", One(&SELECTOR)),
    (6, "sideEffects", TextPointer),
    (7, "timeoutSeconds", IntPointer),
    (8, "admissionReviewVersions", Repeated(&Text)),
    (9, "matchPolicy", TextPointer),
    (10, "reinvocationPolicy", TextPointer),
    (11, "objectSelector", One(&SELECTOR)),
    (12, "matchConditions", Repeated(&One(&NAMED_EXPRESSION))),
]);
static CLIENT: Message = unnamed(&[(1, "service", One(&SERVICE)), (2, "caBundle", Bytes), (3, "url", TextPointer)]);
static RULE: Message = unnamed(&[
    (1, "operations", Repeated(&Text)),
    (
        2,
        "rule",
        Inline(&unnamed(&[
            (1, "apiGroups", Repeated(&Text)),
            (2, "apiVersions", Repeated(&Text)),
            (3, "resources", Repeated(&Text)),
            (4, "scope", TextPointer),
        ])),
    ),
]);
static NAMED_RULE: Message =
    unnamed(&[(1, "resourceNames", Repeated(&Text)), (2, "ruleWithOperations", Inline(&RULE))]);
static SELECTOR: Message =
    unnamed(&[(1, "matchLabels", MapOf(&Text)), (2, "matchExpressions", Repeated(&One(&REQUIREMENT)))]);
static REQUIREMENT: Message = unnamed(&[(1, "key", Text), (2, "operator", Text), (3, "values", Repeated(&Text))]);
static NAMED_EXPRESSION: Message = unnamed(&[(1, "name", Text), (2, "expression", Text)]);

static VALIDATING_POLICY: Message = unnamed(&[
    (1, "paramKind", One(&PARAM_KIND)),
    (2, "matchConstraints", One(&MATCH)),
    (
        3,
        "validations",
        Repeated(&One(&unnamed(&[
            (1, "expression", Text),
            (2, "message", Text),
            (3, "reason", TextPointer),
            (4, "messageExpression", Text),
        ]))),
    ),
    (4, "failurePolicy", TextPointer),
    (5, "auditAnnotations", Repeated(&One(&unnamed(&[(1, "key", Text), (2, "valueExpression", Text)])))),
    (6, "matchConditions", Repeated(&One(&NAMED_EXPRESSION))),
    (7, "variables", Repeated(&One(&NAMED_EXPRESSION))),
]);
static MUTATING_POLICY: Message = unnamed(&[
    (1, "paramKind", One(&PARAM_KIND)),
    (2, "matchConstraints", One(&MATCH)),
    (3, "variables", Repeated(&One(&NAMED_EXPRESSION))),
    (
        4,
        "mutations",
        Repeated(&One(&unnamed(&[
            (2, "patchType", Text),
            (3, "applyConfiguration", One(&unnamed(&[(1, "expression", Text)]))),
            (4, "jsonPatch", One(&unnamed(&[(1, "expression", Text)]))),
        ]))),
    ),
    (5, "failurePolicy", TextPointer),
    (6, "matchConditions", Repeated(&One(&NAMED_EXPRESSION))),
    (7, "reinvocationPolicy", Text),
]);
static POLICY_STATUS: Message = unnamed(&[
    (1, "observedGeneration", Int),
    (
        2,
        "typeChecking",
        One(&unnamed(&[(
            1,
            "expressionWarnings",
            Repeated(&One(&unnamed(&[(2, "fieldRef", Text), (3, "warning", Text)]))),
        )])),
    ),
    (
        3,
        "conditions",
        Repeated(&One(&unnamed(&[
            (1, "type", Text),
            (2, "status", Text),
            (3, "observedGeneration", Int),
            (4, "lastTransitionTime", Time),
            (5, "reason", Text),
            (6, "message", Text),
        ]))),
    ),
]);
static BINDING: Message = unnamed(&[
    (1, "policyName", Text),
    (2, "paramRef", One(&PARAM_REF)),
    (3, "matchResources", One(&MATCH)),
    (4, "validationActions", Repeated(&Text)),
]);
static PARAM_KIND: Message = unnamed(&[(1, "apiVersion", Text), (2, "kind", Text)]);
static PARAM_REF: Message = unnamed(&[
    (1, "name", Text),
    (2, "namespace", Text),
    (3, "selector", One(&SELECTOR)),
    (4, "parameterNotFoundAction", TextPointer),
]);
static MATCH: Message = unnamed(&[
    (1, "namespaceSelector", One(&SELECTOR)),
    (2, "objectSelector", One(&SELECTOR)),
    (3, "resourceRules", Repeated(&One(&NAMED_RULE))),
    (4, "excludeResourceRules", Repeated(&One(&NAMED_RULE))),
    (7, "matchPolicy", TextPointer),
]);

static ACCESS: Message = unnamed(&[
    (1, "resourceAttributes", One(&RESOURCE)),
    (2, "nonResourceAttributes", One(&PATH)),
    (3, "user", Text),
    (4, "groups", Repeated(&Text)),
    (5, "extra", MapOf(&Items)),
    (6, "uid", Text),
]);
static RESOURCE: Message = unnamed(&[
    (1, "namespace", Text),
    (2, "verb", Text),
    (3, "group", Text),
    (4, "version", Text),
    (5, "resource", Text),
    (6, "subresource", Text),
    (7, "name", Text),
    (8, "fieldSelector", One(&SELECTORS)),
    (9, "labelSelector", One(&SELECTORS)),
]);
static SELECTORS: Message = unnamed(&[(1, "rawSelector", Text), (2, "requirements", Repeated(&One(&REQUIREMENT)))]);
static PATH: Message = unnamed(&[(1, "path", Text), (2, "verb", Text)]);
