//! Messages of the kinds that admission needs, and of reviews (`generated.proto` of `admissionregistration/v1`,
//! `authorization/v1`, `authentication/v1` and, for config maps, `core/v1`).

use super::Kind::{
    BoolPointer, Bytes, Inline, Int, Int32Pointer, Items, Map as MapOf, One, Repeated, Text, TextPointer, Time,
};
use super::messages::{METADATA, SERVICE};
use super::{Message, message};

/// The message types by group and kind; all of version v1.
static KINDS: [(&str, &str, Message); 12] = [
    (
        "admissionregistration.k8s.io",
        "ValidatingWebhookConfiguration",
        message(
            "ValidatingWebhookConfiguration",
            &[(1, "metadata", One(&METADATA)), (2, "webhooks", Repeated(&One(&VALIDATING)))],
        ),
    ),
    (
        "admissionregistration.k8s.io",
        "MutatingWebhookConfiguration",
        message(
            "MutatingWebhookConfiguration",
            &[(1, "metadata", One(&METADATA)), (2, "webhooks", Repeated(&One(&MUTATING)))],
        ),
    ),
    (
        "admissionregistration.k8s.io",
        "ValidatingAdmissionPolicy",
        message(
            "ValidatingAdmissionPolicy",
            &[
                (1, "metadata", One(&METADATA)),
                (2, "spec", One(&VALIDATING_POLICY)),
                (3, "status", One(&POLICY_STATUS)),
            ],
        ),
    ),
    (
        "admissionregistration.k8s.io",
        "ValidatingAdmissionPolicyBinding",
        message("ValidatingAdmissionPolicyBinding", &[(1, "metadata", One(&METADATA)), (2, "spec", One(&BINDING))]),
    ),
    (
        "admissionregistration.k8s.io",
        "MutatingAdmissionPolicy",
        message("MutatingAdmissionPolicy", &[(1, "metadata", One(&METADATA)), (2, "spec", One(&MUTATING_POLICY))]),
    ),
    (
        "admissionregistration.k8s.io",
        "MutatingAdmissionPolicyBinding",
        message(
            "MutatingAdmissionPolicyBinding",
            &[(1, "metadata", One(&METADATA)), (2, "spec", One(&MUTATING_BINDING))],
        ),
    ),
    (
        "authorization.k8s.io",
        "SubjectAccessReview",
        message("SubjectAccessReview", &[(1, "metadata", One(&METADATA)), (2, "spec", One(&ACCESS))]),
    ),
    (
        "authorization.k8s.io",
        "LocalSubjectAccessReview",
        message("LocalSubjectAccessReview", &[(1, "metadata", One(&METADATA)), (2, "spec", One(&ACCESS))]),
    ),
    (
        "authorization.k8s.io",
        "SelfSubjectAccessReview",
        message(
            "SelfSubjectAccessReview",
            &[
                (1, "metadata", One(&METADATA)),
                (
                    2,
                    "spec",
                    One(&message(
                        "SelfSubjectAccessReviewSpec",
                        &[(1, "resourceAttributes", One(&RESOURCE)), (2, "nonResourceAttributes", One(&PATH))],
                    )),
                ),
            ],
        ),
    ),
    (
        "authorization.k8s.io",
        "SelfSubjectRulesReview",
        message(
            "SelfSubjectRulesReview",
            &[
                (1, "metadata", One(&METADATA)),
                (2, "spec", One(&message("SelfSubjectRulesReviewSpec", &[(1, "namespace", Text)]))),
            ],
        ),
    ),
    ("authentication.k8s.io", "SelfSubjectReview", message("SelfSubjectReview", &[(1, "metadata", One(&METADATA))])),
    (
        "authentication.k8s.io",
        "TokenReview",
        message(
            "TokenReview",
            &[
                (1, "metadata", One(&METADATA)),
                (2, "spec", One(&message("TokenReviewSpec", &[(1, "token", Text), (2, "audiences", Repeated(&Text))]))),
            ],
        ),
    ),
];

/// The message type of a kind.
pub(super) fn message_of(api_version: &str, kind: &str) -> Option<&'static Message> {
    let group = api_version.strip_suffix("/v1")?;
    KINDS.iter().find(|(of, name, _)| (*of, *name) == (group, kind)).map(|(_, _, message)| message)
}

pub(super) static CONFIG_MAP: Message = message(
    "ConfigMap",
    &[
        (1, "metadata", One(&METADATA)),
        (2, "data", MapOf(&Text)),
        (3, "binaryData", MapOf(&Bytes)),
        (4, "immutable", BoolPointer),
    ],
);

static VALIDATING: Message = message(
    "ValidatingWebhook",
    &[
        (1, "name", Text),
        (2, "clientConfig", One(&CLIENT)),
        (3, "rules", Repeated(&One(&RULE))),
        (4, "failurePolicy", TextPointer),
        (5, "namespaceSelector", One(&SELECTOR)),
        (6, "sideEffects", TextPointer),
        (7, "timeoutSeconds", Int32Pointer),
        (8, "admissionReviewVersions", Repeated(&Text)),
        (9, "matchPolicy", TextPointer),
        (10, "objectSelector", One(&SELECTOR)),
        (11, "matchConditions", Repeated(&One(&MATCH_CONDITION))),
    ],
);
static MUTATING: Message = message(
    "MutatingWebhook",
    &[
        (1, "name", Text),
        (2, "clientConfig", One(&CLIENT)),
        (3, "rules", Repeated(&One(&RULE))),
        (4, "failurePolicy", TextPointer),
        (5, "namespaceSelector", One(&SELECTOR)),
        (6, "sideEffects", TextPointer),
        (7, "timeoutSeconds", Int32Pointer),
        (8, "admissionReviewVersions", Repeated(&Text)),
        (9, "matchPolicy", TextPointer),
        (10, "reinvocationPolicy", TextPointer),
        (11, "objectSelector", One(&SELECTOR)),
        (12, "matchConditions", Repeated(&One(&MATCH_CONDITION))),
    ],
);
static CLIENT: Message =
    message("WebhookClientConfig", &[(1, "service", One(&SERVICE)), (2, "caBundle", Bytes), (3, "url", TextPointer)]);
static RULE: Message = message(
    "RuleWithOperations",
    &[
        (1, "operations", Repeated(&Text)),
        (
            2,
            "rule",
            Inline(&message(
                "Rule",
                &[
                    (1, "apiGroups", Repeated(&Text)),
                    (2, "apiVersions", Repeated(&Text)),
                    (3, "resources", Repeated(&Text)),
                    (4, "scope", TextPointer),
                ],
            )),
        ),
    ],
);
static NAMED_RULE: Message = message(
    "NamedRuleWithOperations",
    &[(1, "resourceNames", Repeated(&Text)), (2, "ruleWithOperations", Inline(&RULE))],
);
static SELECTOR: Message = message(
    "LabelSelector",
    &[(1, "matchLabels", MapOf(&Text)), (2, "matchExpressions", Repeated(&One(&REQUIREMENT)))],
);
static REQUIREMENT: Message =
    message("LabelSelectorRequirement", &[(1, "key", Text), (2, "operator", Text), (3, "values", Repeated(&Text))]);
static VARIABLE: Message = message("Variable", &[(1, "name", Text), (2, "expression", Text)]);
static MATCH_CONDITION: Message = message("MatchCondition", &[(1, "name", Text), (2, "expression", Text)]);

static VALIDATING_POLICY: Message = message(
    "ValidatingAdmissionPolicySpec",
    &[
        (1, "paramKind", One(&PARAM_KIND)),
        (2, "matchConstraints", One(&MATCH)),
        (
            3,
            "validations",
            Repeated(&One(&message(
                "Validation",
                &[
                    (1, "expression", Text),
                    (2, "message", Text),
                    (3, "reason", TextPointer),
                    (4, "messageExpression", Text),
                ],
            ))),
        ),
        (4, "failurePolicy", TextPointer),
        (
            5,
            "auditAnnotations",
            Repeated(&One(&message("AuditAnnotation", &[(1, "key", Text), (2, "valueExpression", Text)]))),
        ),
        (6, "matchConditions", Repeated(&One(&MATCH_CONDITION))),
        (7, "variables", Repeated(&One(&VARIABLE))),
    ],
);
static MUTATING_POLICY: Message = message(
    "MutatingAdmissionPolicySpec",
    &[
        (1, "paramKind", One(&PARAM_KIND)),
        (2, "matchConstraints", One(&MATCH)),
        (3, "variables", Repeated(&One(&VARIABLE))),
        (
            4,
            "mutations",
            Repeated(&One(&message(
                "Mutation",
                &[
                    (2, "patchType", Text),
                    (3, "applyConfiguration", One(&message("ApplyConfiguration", &[(1, "expression", Text)]))),
                    (4, "jsonPatch", One(&message("JSONPatch", &[(1, "expression", Text)]))),
                ],
            ))),
        ),
        (5, "failurePolicy", TextPointer),
        (6, "matchConditions", Repeated(&One(&MATCH_CONDITION))),
        (7, "reinvocationPolicy", Text),
    ],
);
static POLICY_STATUS: Message = message(
    "ValidatingAdmissionPolicyStatus",
    &[
        (1, "observedGeneration", Int),
        (
            2,
            "typeChecking",
            One(&message(
                "TypeChecking",
                &[(
                    1,
                    "expressionWarnings",
                    Repeated(&One(&message("ExpressionWarning", &[(2, "fieldRef", Text), (3, "warning", Text)]))),
                )],
            )),
        ),
        (
            3,
            "conditions",
            Repeated(&One(&message(
                "Condition",
                &[
                    (1, "type", Text),
                    (2, "status", Text),
                    (3, "observedGeneration", Int),
                    (4, "lastTransitionTime", Time),
                    (5, "reason", Text),
                    (6, "message", Text),
                ],
            ))),
        ),
    ],
);
static BINDING: Message = message(
    "ValidatingAdmissionPolicyBindingSpec",
    &[
        (1, "policyName", Text),
        (2, "paramRef", One(&PARAM_REF)),
        (3, "matchResources", One(&MATCH)),
        (4, "validationActions", Repeated(&Text)),
    ],
);
static MUTATING_BINDING: Message = message(
    "MutatingAdmissionPolicyBindingSpec",
    &[(1, "policyName", Text), (2, "paramRef", One(&PARAM_REF)), (3, "matchResources", One(&MATCH))],
);
static PARAM_KIND: Message = message("ParamKind", &[(1, "apiVersion", Text), (2, "kind", Text)]);
static PARAM_REF: Message = message(
    "ParamRef",
    &[
        (1, "name", Text),
        (2, "namespace", Text),
        (3, "selector", One(&SELECTOR)),
        (4, "parameterNotFoundAction", TextPointer),
    ],
);
static MATCH: Message = message(
    "MatchResources",
    &[
        (1, "namespaceSelector", One(&SELECTOR)),
        (2, "objectSelector", One(&SELECTOR)),
        (3, "resourceRules", Repeated(&One(&NAMED_RULE))),
        (4, "excludeResourceRules", Repeated(&One(&NAMED_RULE))),
        (7, "matchPolicy", TextPointer),
    ],
);

static ACCESS: Message = message(
    "SubjectAccessReviewSpec",
    &[
        (1, "resourceAttributes", One(&RESOURCE)),
        (2, "nonResourceAttributes", One(&PATH)),
        (3, "user", Text),
        (4, "groups", Repeated(&Text)),
        (5, "extra", MapOf(&Items)),
        (6, "uid", Text),
    ],
);
static RESOURCE: Message = message(
    "ResourceAttributes",
    &[
        (1, "namespace", Text),
        (2, "verb", Text),
        (3, "group", Text),
        (4, "version", Text),
        (5, "resource", Text),
        (6, "subresource", Text),
        (7, "name", Text),
        (8, "fieldSelector", One(&FIELD_SELECTORS)),
        (9, "labelSelector", One(&LABEL_SELECTORS)),
    ],
);
static FIELD_SELECTORS: Message = message(
    "FieldSelectorAttributes",
    &[(1, "rawSelector", Text), (2, "requirements", Repeated(&One(&FIELD_REQUIREMENT)))],
);
static FIELD_REQUIREMENT: Message =
    message("FieldSelectorRequirement", &[(1, "key", Text), (2, "operator", Text), (3, "values", Repeated(&Text))]);
static LABEL_SELECTORS: Message =
    message("LabelSelectorAttributes", &[(1, "rawSelector", Text), (2, "requirements", Repeated(&One(&REQUIREMENT)))]);
static PATH: Message = message("NonResourceAttributes", &[(1, "path", Text), (2, "verb", Text)]);
