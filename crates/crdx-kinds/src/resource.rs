//! `resource.k8s.io`.

pub(crate) mod device_class;
pub(crate) mod device_taint_rule;
pub(crate) mod resource_claim;
pub(crate) mod resource_claim_template;
pub(crate) mod resource_slice;

use crate::features::paths::Path;
use crate::features::{Feature, feature};
use crdx_value::release::{Gate, V1_35};

/// The fields of a claim's specification that use consumable capacity.
const USED_CAPACITY: &[Path] = &[
    &["devices", "constraints", "*", "distinctAttribute"],
    &["devices", "requests", "*", "exactly", "capacity"],
    &["devices", "requests", "*", "firstAvailable", "*", "capacity"],
];

/// The features of the specification of a claim.
pub(crate) const CLAIM_FEATURES: &[Feature] = &[
    // 1.34 does not drop them.
    Feature {
        drops_since: V1_35,
        ..feature(
            &[Gate::DRADeviceTaints],
            &[
                &["devices", "requests", "*", "exactly", "tolerations"],
                &["devices", "requests", "*", "firstAvailable", "*", "tolerations"],
            ],
        )
    },
    Feature {
        used: USED_CAPACITY,
        ..feature(
            &[Gate::DRAConsumableCapacity],
            &[
                &["devices", "requests", "*", "exactly", "capacity"],
                &["devices", "requests", "*", "firstAvailable", "*", "capacity"],
            ],
        )
    },
    // 1.34 changes a copy of each constraint only.
    Feature {
        drops_since: V1_35,
        used: USED_CAPACITY,
        ..feature(&[Gate::DRAConsumableCapacity], &[&["devices", "constraints", "*", "distinctAttribute"]])
    },
    feature(
        &[Gate::DRADerivedAttributes],
        &[
            &["devices", "requests", "*", "exactly", "derivedAttributes"],
            &["devices", "requests", "*", "firstAvailable", "*", "derivedAttributes"],
        ],
    ),
];
