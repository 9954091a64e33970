//! The messages of CRDs, namespaces, delete options and Scales, and the envelope of all bodies.

use super::Kind::{
    Bool, BoolPointer, Bytes, Double, Fields, Int, Int32, Int32Pointer, IntPointer, Json, Map as MapOf, One, Repeated,
    SchemaOrBool, SchemaOrList, SchemaOrTexts, Text, TextPointer, Time,
};
use super::{Message, message};

pub(super) static METADATA: Message = message(
    "ObjectMeta",
    &[
        (1, "name", Text),
        (2, "generateName", Text),
        (3, "namespace", Text),
        (4, "selfLink", Text),
        (5, "uid", Text),
        (6, "resourceVersion", Text),
        (7, "generation", Int),
        (8, "creationTimestamp", Time),
        (9, "deletionTimestamp", Time),
        (10, "deletionGracePeriodSeconds", IntPointer),
        (11, "labels", MapOf(&Text)),
        (12, "annotations", MapOf(&Text)),
        (13, "ownerReferences", Repeated(&One(&OWNER))),
        (14, "finalizers", Repeated(&Text)),
        (17, "managedFields", Repeated(&One(&MANAGED))),
    ],
);
static OWNER: Message = message(
    "OwnerReference",
    &[
        (5, "apiVersion", Text),
        (1, "kind", Text),
        (3, "name", Text),
        (4, "uid", Text),
        (6, "controller", BoolPointer),
        (7, "blockOwnerDeletion", BoolPointer),
    ],
);
static MANAGED: Message = message(
    "ManagedFieldsEntry",
    &[
        (1, "manager", Text),
        (2, "operation", Text),
        (3, "apiVersion", Text),
        (4, "time", Time),
        (6, "fieldsType", Text),
        (7, "fieldsV1", Fields),
        (8, "subresource", Text),
    ],
);
pub(super) static DELETE_OPTIONS: Message = message(
    "DeleteOptions",
    &[
        (1, "gracePeriodSeconds", IntPointer),
        (
            2,
            "preconditions",
            One(&message("Preconditions", &[(1, "uid", TextPointer), (2, "resourceVersion", TextPointer)])),
        ),
        (3, "orphanDependents", BoolPointer),
        (4, "propagationPolicy", TextPointer),
        (5, "dryRun", Repeated(&Text)),
        (6, "ignoreStoreReadErrorWithClusterBreakingPotential", BoolPointer),
    ],
);
pub(super) static NAMESPACE: Message = message(
    "Namespace",
    &[
        (1, "metadata", One(&METADATA)),
        (2, "spec", One(&message("NamespaceSpec", &[(1, "finalizers", Repeated(&Text))]))),
        (
            3,
            "status",
            One(&message(
                "NamespaceStatus",
                &[(1, "phase", Text), (2, "conditions", Repeated(&One(&NAMESPACE_CONDITION)))],
            )),
        ),
    ],
);
static NAMESPACE_CONDITION: Message = message(
    "NamespaceCondition",
    &[
        (1, "type", Text),
        (2, "status", Text),
        (4, "lastTransitionTime", Time),
        (5, "reason", Text),
        (6, "message", Text),
    ],
);
pub(super) static DEFINITION: Message = message(
    "CustomResourceDefinition",
    &[(1, "metadata", One(&METADATA)), (2, "spec", One(&SPEC)), (3, "status", One(&STATUS))],
);
static SPEC: Message = message(
    "CustomResourceDefinitionSpec",
    &[
        (1, "group", Text),
        (3, "names", One(&NAMES)),
        (4, "scope", Text),
        (7, "versions", Repeated(&One(&VERSION))),
        (9, "conversion", One(&CONVERSION)),
        (10, "preserveUnknownFields", Bool),
    ],
);
static NAMES: Message = message(
    "CustomResourceDefinitionNames",
    &[
        (1, "plural", Text),
        (2, "singular", Text),
        (3, "shortNames", Repeated(&Text)),
        (4, "kind", Text),
        (5, "listKind", Text),
        (6, "categories", Repeated(&Text)),
    ],
);
static STATUS: Message = message(
    "CustomResourceDefinitionStatus",
    &[
        (1, "conditions", Repeated(&One(&CONDITION))),
        (2, "acceptedNames", One(&NAMES)),
        (3, "storedVersions", Repeated(&Text)),
        (4, "observedGeneration", Int),
    ],
);
static CONDITION: Message = message(
    "CustomResourceDefinitionCondition",
    &[
        (1, "type", Text),
        (2, "status", Text),
        (3, "lastTransitionTime", Time),
        (4, "reason", Text),
        (5, "message", Text),
        (6, "observedGeneration", Int),
    ],
);
static VERSION: Message = message(
    "CustomResourceDefinitionVersion",
    &[
        (1, "name", Text),
        (2, "served", Bool),
        (3, "storage", Bool),
        (4, "schema", One(&message("CustomResourceValidation", &[(1, "openAPIV3Schema", One(&SCHEMA))]))),
        (
            5,
            "subresources",
            One(&message(
                "CustomResourceSubresources",
                &[(1, "status", One(&message("CustomResourceSubresourceStatus", &[]))), (2, "scale", One(&SCALE))],
            )),
        ),
        (6, "additionalPrinterColumns", Repeated(&One(&COLUMN))),
        (7, "deprecated", Bool),
        (8, "deprecationWarning", TextPointer),
        (9, "selectableFields", Repeated(&One(&message("SelectableField", &[(1, "jsonPath", Text)])))),
    ],
);
static SCALE: Message = message(
    "CustomResourceSubresourceScale",
    &[(1, "specReplicasPath", Text), (2, "statusReplicasPath", Text), (3, "labelSelectorPath", TextPointer)],
);
static COLUMN: Message = message(
    "CustomResourceColumnDefinition",
    &[
        (1, "name", Text),
        (2, "type", Text),
        (3, "format", Text),
        (4, "description", Text),
        (5, "priority", Int32),
        (6, "jsonPath", Text),
    ],
);
static CONVERSION: Message =
    message("CustomResourceConversion", &[(1, "strategy", Text), (2, "webhook", One(&WEBHOOK))]);
static WEBHOOK: Message = message(
    "WebhookConversion",
    &[
        (
            2,
            "clientConfig",
            One(&message(
                "WebhookClientConfig",
                &[(3, "url", TextPointer), (1, "service", One(&SERVICE)), (2, "caBundle", Bytes)],
            )),
        ),
        (3, "conversionReviewVersions", Repeated(&Text)),
    ],
);
pub(super) static SERVICE: Message = message(
    "ServiceReference",
    &[(1, "namespace", Text), (2, "name", Text), (3, "path", TextPointer), (4, "port", Int32Pointer)],
);
pub(super) static SCHEMA: Message = message(
    "JSONSchemaProps",
    &[
        (1, "id", Text),
        (2, "$schema", Text),
        (3, "$ref", TextPointer),
        (4, "description", Text),
        (5, "type", Text),
        (6, "format", Text),
        (7, "title", Text),
        (8, "default", Json),
        (9, "maximum", Double),
        (10, "exclusiveMaximum", Bool),
        (11, "minimum", Double),
        (12, "exclusiveMinimum", Bool),
        (13, "maxLength", IntPointer),
        (14, "minLength", IntPointer),
        (15, "pattern", Text),
        (16, "maxItems", IntPointer),
        (17, "minItems", IntPointer),
        (18, "uniqueItems", Bool),
        (19, "multipleOf", Double),
        (20, "enum", Repeated(&Json)),
        (21, "maxProperties", IntPointer),
        (22, "minProperties", IntPointer),
        (23, "required", Repeated(&Text)),
        (24, "items", SchemaOrList),
        (25, "allOf", Repeated(&One(&SCHEMA))),
        (26, "oneOf", Repeated(&One(&SCHEMA))),
        (27, "anyOf", Repeated(&One(&SCHEMA))),
        (28, "not", One(&SCHEMA)),
        (29, "properties", MapOf(&One(&SCHEMA))),
        (30, "additionalProperties", SchemaOrBool),
        (31, "patternProperties", MapOf(&One(&SCHEMA))),
        (32, "dependencies", MapOf(&SchemaOrTexts)),
        (33, "additionalItems", SchemaOrBool),
        (34, "definitions", MapOf(&One(&SCHEMA))),
        (35, "externalDocs", One(&message("ExternalDocumentation", &[(1, "description", Text), (2, "url", Text)]))),
        (36, "example", Json),
        (37, "nullable", Bool),
        (38, "x-kubernetes-preserve-unknown-fields", BoolPointer),
        (39, "x-kubernetes-embedded-resource", Bool),
        (40, "x-kubernetes-int-or-string", Bool),
        (41, "x-kubernetes-list-map-keys", Repeated(&Text)),
        (42, "x-kubernetes-list-type", TextPointer),
        (43, "x-kubernetes-map-type", TextPointer),
        (44, "x-kubernetes-validations", Repeated(&One(&RULE))),
    ],
);
static RULE: Message = message(
    "ValidationRule",
    &[
        (1, "rule", Text),
        (2, "message", Text),
        (3, "messageExpression", Text),
        (4, "reason", TextPointer),
        (5, "fieldPath", Text),
        (6, "optionalOldSelf", BoolPointer),
    ],
);

/// The envelope and its type.
pub(super) static ENVELOPE: Message = message(
    "Unknown",
    &[(1, "typeMeta", One(&TYPE)), (2, "raw", Bytes), (3, "contentEncoding", Text), (4, "contentType", Text)],
);
pub(super) static TYPE: Message = message("TypeMeta", &[(1, "apiVersion", Text), (2, "kind", Text)]);
pub(super) static TIMESTAMP: Message = message("Timestamp", &[(1, "seconds", Int), (2, "nanos", Int32)]);
pub(super) static JSON: Message = message("JSON", &[(1, "raw", Bytes)]);
pub(super) static FIELDS: Message = message("FieldsV1", &[(1, "raw", Bytes)]);
pub(super) static SCHEMA_OR_LIST: Message =
    message("JSONSchemaPropsOrArray", &[(1, "schema", One(&SCHEMA)), (2, "jSONSchemas", Repeated(&One(&SCHEMA)))]);
pub(super) static SCHEMA_OR_BOOL: Message =
    message("JSONSchemaPropsOrBool", &[(1, "allows", Bool), (2, "schema", One(&SCHEMA))]);
pub(super) static SCHEMA_OR_TEXTS: Message =
    message("JSONSchemaPropsOrStringArray", &[(1, "schema", One(&SCHEMA)), (2, "property", Repeated(&Text))]);

pub(super) static AUTOSCALING: Message = message(
    "Scale",
    &[
        (1, "metadata", One(&METADATA)),
        (2, "spec", One(&message("ScaleSpec", &[(1, "replicas", Int32)]))),
        (3, "status", One(&message("ScaleStatus", &[(1, "replicas", Int32), (2, "selector", Text)]))),
    ],
);

/// The message of a list of texts.
pub(super) static ITEMS: Message = message("ExtraValue", &[(1, "items", Repeated(&Text))]);
