//! Random expressions of policies.

use crate::conformance::differential::mutate::Rng;

/// The inputs that expressions of a policy may use.
pub struct Scope {
    /// The kind of the policy's params.
    pub params: Option<String>,
}

impl Scope {
    pub fn variable(&self, name: &str, rng: &mut Rng) -> String {
        match name {
            "n" => self.int(2, rng),
            "t" => self.text(2, rng),
            "b" => self.bool(2, rng),
            // A variable of variables.
            "c" => (*rng.pick(&[
                "variables.n + 1",
                "variables.t + variables.t",
                "variables.b && variables.b",
                "variables.l.map(e, e + variables.t)",
                "{'n': variables.n, 't': variables.t}",
                "[variables.n, object.spec.replicas]",
                "has(variables.n) ? variables.b : variables.t == 'a'",
                "object.spec.env.filter(e, e.name == variables.t)",
                "variables.c",
                "variables.d",
            ]))
            .to_owned(),
            "d" => {
                (*rng.pick(&["variables.c", "string(variables.c)", "variables.c == variables.c", "size(variables.c)"]))
                    .to_owned()
            }
            _ => self.list(1, rng),
        }
    }

    pub fn condition(&self, rng: &mut Rng) -> String {
        match rng.below(8) {
            0 => "request.operation != 'DELETE'".to_owned(),
            1 => "namespaceObject == null".to_owned(),
            2 => "request.subResource == 'status'".to_owned(),
            3 => (*rng.pick(&[
                "1 / 0 == 1",
                "object.spec.absent == 1",
                "namespaceObject.metadata.name == 'red'",
                "oldObject.spec.replicas < object.spec.replicas",
                "params.spec.max > 0",
                "params != null",
                "variables.n > 0",
                "variables.c == variables.d",
                "authorizer.requestResource.check('break').allowed()",
                "!authorizer.group('').resource('forbidden').check('get').allowed()",
                "request.userInfo.username == 'crdx'",
                "object.metadata.name",
            ]))
            .to_owned(),
            _ => self.bool(2, rng),
        }
    }

    pub fn message(&self, rng: &mut Rng) -> String {
        match rng.below(8) {
            0 => "'a\\nb'".to_owned(),
            1 => "'  '".to_owned(),
            2 => self.int(1, rng),
            3 => format!("string({})", self.int(2, rng)),
            _ => format!("'m: ' + {}", self.text(2, rng)),
        }
    }

    pub fn annotation(&self, rng: &mut Rng) -> String {
        match rng.below(4) {
            0 => "null".to_owned(),
            1 => self.bool(1, rng),
            _ => format!("string({})", self.int(2, rng)),
        }
    }

    pub fn bool(&self, depth: usize, rng: &mut Rng) -> String {
        if depth == 0 || rng.chance(4) {
            return self.bool_leaf(rng);
        }
        let d = depth - 1;
        match rng.below(20) {
            0 | 1 => format!("({} && {})", self.bool(d, rng), self.bool(d, rng)),
            2 | 3 => format!("({} || {})", self.bool(d, rng), self.bool(d, rng)),
            4 => format!("!({})", self.bool(d, rng)),
            5 => format!("({} ? {} : {})", self.bool(d, rng), self.bool(d, rng), self.bool(d, rng)),
            6..=8 => {
                format!("{} {} {}", self.int(d, rng), rng.pick(&["<", "<=", ">", ">=", "==", "!="]), self.int(d, rng))
            }
            9 | 10 => format!("{} {} {}", self.text(d, rng), rng.pick(&["==", "!=", "<"]), self.text(d, rng)),
            11 => format!("{}.startsWith({})", self.text(d, rng), self.text(d, rng)),
            12 => format!("{}.matches({})", self.text(d, rng), rng.pick(&["'^[a-z]+$'", "'.*'", "'('"])),
            13 => format!("{}.all(e, e != {})", self.list(d, rng), self.text(d, rng)),
            14 => format!("{}.exists(e, e == {})", self.list(d, rng), self.text(d, rng)),
            15 => format!("({} in {})", self.text(d, rng), self.list(d, rng)),
            16 => format!("size({}) < {}", self.list(d, rng), self.int(d, rng)),
            17 => format!("object.spec.env.all(e, has(e.value) && size(e.value) < {})", self.int(d, rng)),
            18 => format!("object.spec.limits.all(k, object.spec.limits[k] <= {})", self.int(d, rng)),
            _ => {
                format!("object.spec.ratio < {}", rng.pick(&["1", "1.0", "double(object.spec.replicas)", "2u", "'x'"]))
            }
        }
    }

    fn bool_leaf(&self, rng: &mut Rng) -> String {
        let leaves = [
            "true",
            "false",
            "has(object.spec.note)",
            "has(object.spec)",
            "has(object.spec.inner.a)",
            "has(oldObject.spec.note)",
            "has(object.metadata.labels)",
            "has(request.subResource)",
            "has(request.namespace)",
            "has(request.name)",
            "object == null",
            "oldObject == null",
            "object != null && oldObject != null && object.spec == oldObject.spec",
            "namespaceObject == null",
            "has(namespaceObject.metadata.labels.env)",
            "request.dryRun",
            "has(request.dryRun) && request.dryRun",
            "'app' in object.metadata.labels",
            "object.metadata.?labels.?app.orValue('') == 'a'",
            "object.spec.mode == 'on'",
            "object.spec.port == 80",
            "object.spec.port == 'http'",
            "type(object.spec.port) == int",
            "object.spec.when < '2025'",
            "timestamp(object.spec.when) < timestamp('2025-01-01T00:00:00Z')",
            "object.spec.inner['c-d'] == 'y'",
            "object.spec.inner.`c-d` == 'y'",
            "object.spec.any.y.z",
            "object.spec.tags == ['a']",
            "object.spec.marks == ['a', 'b']",
            "sets.equivalent(object.spec.marks, ['a', 'b'])",
            "isQuantity(object.spec.note)",
            "quantity(object.spec.note).isGreaterThan(quantity('1Mi'))",
            "isIP(object.spec.note)",
            "authorizer.group('').resource('pods').namespace('red').check('get').allowed()",
            "authorizer.group('apps').resource('forbidden').check('get').allowed()",
            "authorizer.path('/broken').check('get').errored()",
            "authorizer.group('').resource('broken').subresource('s').name('n').check('x').allowed()",
            "authorizer.requestResource.check('approve').allowed()",
            "authorizer.serviceAccount('red', 'robot').group('').resource('unknown').check('get').allowed()",
            "request.userInfo.groups.exists(g, g == 'system:masters')",
            "'extra' in request.userInfo.extra",
            "request.options.kind == 'CreateOptions'",
            "has(request.options.dryRun)",
            "object.bogus == 1",
            "request.bogus == 1",
            "1 / 0 == 1",
            "variables.b",
            "variables.c",
            "variables.c == variables.d",
            "variables.d == 'a' || variables.c == 1",
            "size(variables.c) > 1",
            "oldObject.status.phase == object.status.phase",
            "oldObject != null && object != null && has(oldObject.status) != has(object.status)",
            "namespaceObject.metadata.labels.env == 'prod'",
            "namespaceObject.metadata.name == request.namespace",
            "namespaceObject.spec.finalizers.size() > 0",
            "has(namespaceObject.metadata.annotations)",
            "has(namespaceObject.metadata.UID)",
            "request.subResource == 'status'",
            "request.operation == 'DELETE' && oldObject.spec.replicas > 2",
            "request.options.propagationPolicy == 'Foreground'",
            "request.options.gracePeriodSeconds > 1",
            "request.options.fieldManager != ''",
            "authorizer.requestResource.check('delete').allowed() && oldObject != null",
            "has(object.metadata.deletionTimestamp)",
            "object.metadata.generation > 1",
            "has(object.metadata.uid)",
            "has(object.metadata.resourceVersion)",
            "has(object.metadata.creationTimestamp)",
            "has(object.status)",
            "object.status.phase == 'Ready'",
            "has(object.metadata.managedFields)",
            "authorizer.serviceAccount('Bad Name', 'x').path('/x').check('get').allowed()",
            "authorizer.serviceAccount('red', 'Bad Name').path('/x').check('get').allowed()",
            "authorizer.path(' ').check('get').allowed()",
            "authorizer.group('').resource('').check('get').allowed()",
            "authorizer.group('').resource('pods').name('n').namespace('red').fieldSelector('a=b').labelSelector('x in (y)').check('list').allowed()",
            "authorizer.group('').resource('pods').labelSelector('((').check('list').errored()",
            "authorizer.path('/unknown').check('get').reason() == ''",
            "authorizer == authorizer",
            "authorizer.group('') == authorizer.group('')",
            "authorizer.requestResource == authorizer.requestResource",
            "[authorizer.path('/x').check('get')].size() == 1",
            "dyn(authorizer).path('/x').check(dyn(1)).allowed()",
            "dyn(object.spec).check('x').allowed()",
            "string(dyn(authorizer)) == ''",
            "request.uid.size() > 0",
            "request.options.preconditions.uid == 'x'",
            "request.options.orphanDependents",
        ];
        let with_params = [
            "has(params.data)",
            "params == null",
            "params.metadata.name == 'x'",
            "params.metadata.namespace == request.namespace",
            "has(params.kind)",
            "has(params.apiVersion)",
            "params.spec.max > 2",
        ];
        if self.params.is_some() && rng.chance(3) || rng.chance(40) {
            return (*rng.pick(&with_params)).to_owned();
        }
        (*rng.pick(&leaves)).to_owned()
    }

    pub fn int(&self, depth: usize, rng: &mut Rng) -> String {
        if depth > 0 && rng.chance(3) {
            let d = depth - 1;
            return match rng.below(6) {
                0 | 1 => {
                    format!("({} {} {})", self.int(d, rng), rng.pick(&["+", "-", "*", "/", "%"]), self.int(d, rng))
                }
                2 => format!("size({})", self.text(d, rng)),
                3 => format!("{}.size()", self.list(d, rng)),
                4 => format!("int({})", self.text(d, rng)),
                _ => format!("({} ? {} : {})", self.bool(d, rng), self.int(d, rng), self.int(d, rng)),
            };
        }
        match (self.params.as_deref(), rng.below(12)) {
            (Some("ConfigMap"), 0..=3) => "int(params.data.max)".to_owned(),
            (Some(_), 0..=3) => "params.spec.max".to_owned(),
            (_, 0..=4) => "object.spec.replicas".to_owned(),
            (_, 5) => "oldObject.spec.replicas".to_owned(),
            (_, 6) => "object.spec.?limits.?cpu.orValue(1)".to_owned(),
            (_, 7) => "variables.n".to_owned(),
            (_, 8) => "object.spec.ratio".to_owned(),
            (_, 9) => "object.spec.any.x[1]".to_owned(),
            _ => (*rng.pick(&["0", "1", "3", "5", "100", "9223372036854775807"])).to_owned(),
        }
    }

    pub fn text(&self, depth: usize, rng: &mut Rng) -> String {
        if depth > 0 && rng.chance(3) {
            let d = depth - 1;
            return match rng.below(8) {
                0 | 1 => format!("({} + {})", self.text(d, rng), self.text(d, rng)),
                2 => format!("string({})", self.int(d, rng)),
                3 => format!("{}.replace('a', {})", self.text(d, rng), self.text(d, rng)),
                4 => format!("{}.join(',')", self.list(d, rng)),
                5 => format!("{}.upperAscii()", self.text(d, rng)),
                6 => format!("'%s-%d'.format([{}, {}])", self.text(d, rng), self.int(d, rng)),
                _ => format!("{}[0]", self.list(d, rng)),
            };
        }
        let leaves = [
            "object.metadata.name",
            "object.spec.note",
            "oldObject.spec.note",
            "object.spec.?note.orValue('none')",
            "object.spec.mode",
            "object.apiVersion",
            "object.kind",
            "request.operation",
            "request.name",
            "request.namespace",
            "request.subResource",
            "request.requestSubResource",
            "request.kind.kind",
            "request.kind.version",
            "request.requestKind.version",
            "request.resource.resource",
            "request.requestResource.version",
            "request.userInfo.username",
            "request.options.apiVersion",
            "namespaceObject.metadata.name",
            "namespaceObject.metadata.labels['env']",
            "namespaceObject.status.phase",
            "namespaceObject.metadata.labels.absent",
            "variables.d",
            "variables.c[0]",
            "variables.c.t",
            "request.options.kind",
            "oldObject.metadata.labels['app']",
            "oldObject.status.phase",
            "variables.t",
            "'a'",
            "'abc'",
            "''",
            "object.metadata.namespace",
            "object.metadata.labels['app']",
            "authorizer.group('').resource('forbidden').check('get').reason()",
            "authorizer.path('/broken').check('get').error()",
        ];
        match (self.params.as_deref(), rng.below(4)) {
            (Some("ConfigMap"), 0) => "params.data.word".to_owned(),
            (Some(_), 0) => (*rng.pick(&["params.spec.word", "params.metadata.name", "params.kind"])).to_owned(),
            _ => (*rng.pick(&leaves)).to_owned(),
        }
    }

    pub fn list(&self, depth: usize, rng: &mut Rng) -> String {
        match rng.below(8) {
            0..=2 => "object.spec.tags".to_owned(),
            3 => "object.spec.marks".to_owned(),
            4 => "object.spec.env.map(e, e.name)".to_owned(),
            5 => "variables.l".to_owned(),
            6 if depth > 0 => format!("object.spec.tags.filter(e, e != {})", self.text(depth - 1, rng)),
            6 => "['a']".to_owned(),
            _ => format!("[{}, 'b']", self.text(0, rng)),
        }
    }

    /// Returns an apply configuration.
    pub fn apply(&self, rng: &mut Rng) -> String {
        let field = match rng.below(30) {
            26 | 27 => format!("spec: {}", rng.pick(&[
                "Object.spec{note: string(Object.spec{note: 'a'} == Object.spec{note: 'a'})}",
                "Object.spec{note: string(Object.spec{note: 'a'} == Object.spec{mode: 'on'})}",
                "has(Object.spec{replicas: 1}.replicas) ? Object.spec{note: 'has'} : Object.spec{}",
                "has(Object.spec{replicas: 1}.note) ? Object.spec{note: 'has'} : Object.spec{mode: 'off'}",
                "Object.spec{note: Object.spec{note: 'n'}.note}",
                "Object.spec{note: Object.spec{mode: 'n'}.note}",
                "Object.spec{note: JSONPatch{op: 'add'}.op + JSONPatch{}.path}",
                "Object.spec{note: string(has(JSONPatch{op: ''}.op))}",
                "Object.spec{note: string(JSONPatch{value: 1} == JSONPatch{value: 1})}",
                "Object.spec{note: string(type(Object.spec{}))}",
                "Object.spec{?note: optional.of('o'), ?mode: optional.none()}",
                "Object.spec{?note: dyn(Object.spec{note: 'a'})}",
                "Object.spec{replicas: {1: Object.spec{}}[1].replicas}",
                "[Object.spec{note: 'a'}, Object.spec{note: 'b'}][1]",
                "Object.spec{any: dyn({'t': timestamp('2024-01-01T00:00:00Z'), 'd': duration('1h'), 'b': b'x', 'u': 2u, 'f': 1.5, 'n': null, 'l': [1, 'a']})}",
            ])),
            28 => format!("spec: Object.spec{{note: '%s'.format([{}])}}", rng.pick(&["Object.spec{a: 1}", "type(object)", "[object.spec.replicas]", "JSONPatch{op: 'add'}"])),
            29 => format!("metadata: Object.metadata{{{}}}", rng.pick(&["name: 'other'", "finalizers: ['a/b']", "labels: {'k': 1}", "ownerReferences: []", "generation: 'x'", "uid: 5"])),
            0..=3 => format!("spec: Object.spec{{replicas: {}}}", self.int(1, rng)),
            4..=6 => format!("metadata: Object.metadata{{labels: {{'k': {}}}}}", self.text(1, rng)),
            7 => format!("metadata: Object.metadata{{annotations: {{'k': {}}}}}", self.text(1, rng)),
            8 | 9 => format!(
                "spec: Object.spec{{env: [Object.spec.env{{name: {}, value: {}}}]}}",
                rng.pick(&["'A'", "'B'", "'N'", "object.metadata.name"]),
                self.text(1, rng)
            ),
            10 => format!(
                "spec: Object.spec{{note: {}, mode: {}}}",
                self.text(1, rng),
                rng.pick(&["'off'", "'bad'", "object.spec.mode"])
            ),
            11 => format!(
                "spec: Object.spec{{marks: [{}]}}",
                rng.pick(&["'z'", "'a'", "object.metadata.name", "'a', 'a'"])
            ),
            12 => "spec: Object.spec{limits: {'cpu': 3, 'new': 1}}".to_owned(),
            13 => "spec: Object.spec{inner: Object.spec.inner{a: 4}}".to_owned(),
            14 => "spec: Object.spec{tags: ['a']}".to_owned(),
            15 => "spec: Object.spec{bogus: 1}".to_owned(),
            16 => "spec: Object.spec{note: null}".to_owned(),
            17 => "spec: Object.spec{replicas: 'x'}".to_owned(),
            18 => "spec: Object.x{replicas: 1}".to_owned(),
            19 => "spec: {'replicas': 4}".to_owned(),
            20 => "spec: Object.spec{ratio: 2, port: 'p'}".to_owned(),
            21 => "spec: Object.spec{ratio: 2.5, port: 90}".to_owned(),
            22 => "spec: Object.spec{any: Object.spec.any{q: 1}}".to_owned(),
            23 => "status: Object.status{phase: 'Made'}".to_owned(),
            24 => "spec: Object.spec{when: '2024-05-05T05:05:05Z'}".to_owned(),
            _ => "spec: Object.spec{env: [Object.spec.env{value: 'nameless'}]}".to_owned(),
        };
        match rng.below(6) {
            0 => format!("{} ? Object{{{field}}} : Object{{}}", self.bool(1, rng)),
            _ => format!("Object{{{field}}}"),
        }
    }

    pub fn json_patch(&self, rng: &mut Rng) -> String {
        let patches: Vec<String> = (0..=rng.below(3)).map(|_| self.patch(rng)).collect();
        let list = format!("[{}]", patches.join(", "));
        match rng.below(6) {
            0 => format!("{} ? {list} : []", self.bool(1, rng)),
            1 if rng.chance(4) => "[]".to_owned(),
            _ => list,
        }
    }

    fn patch(&self, rng: &mut Rng) -> String {
        let value = match rng.below(10) {
            0..=2 => self.int(1, rng),
            3..=5 => self.text(1, rng),
            6 => "['q', 'r']".to_owned(),
            7 => "{'a': 7}".to_owned(),
            8 => "Object.spec.inner{a: 9}".to_owned(),
            _ => (*rng.pick(&[
                "null",
                "true",
                "1.5",
                "7.0",
                "2u",
                "b'ab'",
                "timestamp('2024-01-01T00:00:00Z')",
                "duration('1h')",
            ]))
            .to_owned(),
        };
        let path = *rng.pick(&[
            "/spec/replicas",
            "/spec/replicas",
            "/spec/note",
            "/spec/note",
            "/spec/tags/0",
            "/spec/tags/-",
            "/spec/tags/1",
            "/spec/inner",
            "/spec/inner/a",
            "/spec/env/0/value",
            "/spec/any/x",
            "/spec/limits/cpu",
            "/spec/bogus",
            "/metadata/labels/k",
            "/metadata/labels",
            "/metadata/annotations",
            "/spec",
            "/nowhere/deep",
            "spec/note",
        ]);
        match rng.below(14) {
            12 => format!("JSONPatch{{{}: dyn({value}), path: '{path}'}}", rng.pick(&["op", "from", "value", "other"])),
            13 => format!(
                "JSONPatch{{?op: {}, path: '/spec/note', value: {value}}}",
                rng.pick(&["optional.of('add')", "optional.none()", "dyn('add')"])
            ),
            0..=4 => format!("JSONPatch{{op: 'add', path: '{path}', value: {value}}}"),
            5 | 6 => format!("JSONPatch{{op: 'replace', path: '{path}', value: {value}}}"),
            7 => format!("JSONPatch{{op: 'remove', path: '{path}'}}"),
            8 => format!("JSONPatch{{op: 'test', path: '{path}', value: {value}}}"),
            9 => format!("JSONPatch{{op: 'copy', from: '/spec/note', path: '{path}'}}"),
            10 => format!("JSONPatch{{op: 'move', from: '/spec/tags/0', path: '{path}'}}"),
            _ => format!(
                "JSONPatch{{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey({}), value: 'v'}}",
                rng.pick(&["'a/b'", "'x~y'", "object.metadata.name"])
            ),
        }
    }
}
