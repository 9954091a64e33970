package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/scheme"
)

// unmarshal reads JSON with integers, as the server does.
func unmarshal(text []byte, into *map[string]any) error { return utiljson.Unmarshal(text, into) }

// object is a random object of the kind. A sparse one has few fields.
func (s *server) object(sparse int) json.RawMessage {
	o, err := scheme.Scheme.New(s.gvk)
	check(err)
	t := reflect.TypeOf(o).Elem()
	members := map[string]any{"apiVersion": s.gvk.GroupVersion().String(), "kind": s.gvk.Kind}
	for i := range t.NumField() {
		name := jsonName(t.Field(i))
		if name == "" || name == "metadata" || name == "status" || name == "kind" || name == "apiVersion" {
			continue
		}
		if v := s.value(t.Field(i).Type, name, 1+sparse, t); v != nil {
			members[name] = v
		}
	}
	meta := map[string]any{"name": "a"}
	if s.random.Intn(2) == 0 {
		meta["labels"] = s.texts()
	}
	if s.random.Intn(4) == 0 {
		meta["finalizers"] = s.distinct("example.com/")
	}
	members["metadata"] = meta
	text, err := json.Marshal(members)
	check(err)
	return text
}

func (s *server) texts() map[string]any {
	m := map[string]any{}
	for _, key := range []string{"a", "b", "c"} {
		if s.random.Intn(2) == 0 {
			m[key] = []string{"1", "2"}[s.random.Intn(2)]
		}
	}
	return m
}

func (s *server) distinct(prefix string) []any {
	list := []any{}
	for _, i := range s.random.Perm(4)[:1+s.random.Intn(3)] {
		list = append(list, prefix+string(rune('a'+i)))
	}
	return list
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "-" {
		return ""
	}
	return name
}

const deepest = 9

// value is a random value of a type; nil for none.
func (s *server) value(t reflect.Type, name string, depth int, parent reflect.Type) any {
	if depth > deepest {
		return nil
	}
	switch t.String() {
	case "resource.Quantity":
		return []any{"1", "500m", "1Gi", "1024Mi", "0.5", 2}[s.random.Intn(6)]
	case "v1.Time":
		return []any{"2026-01-01T00:00:00Z", "2026-01-01T02:00:00+02:00"}[s.random.Intn(2)]
	case "v1.MicroTime":
		return "2026-01-01T00:00:00.000001Z"
	case "intstr.IntOrString":
		return []any{1, 80, "http", "50%"}[s.random.Intn(4)]
	case "runtime.RawExtension":
		return map[string]any{"a": s.random.Intn(2)}
	case "v1.Duration":
		return "5s"
	case "v1.ObjectMeta":
		return map[string]any{"labels": s.texts()}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.value(t.Elem(), name, depth, parent)
	case reflect.Bool:
		return s.random.Intn(2) == 0
	case reflect.Int32, reflect.Int64:
		return s.random.Intn(4)
	case reflect.String:
		switch {
		case name == "image" || name == "reference":
			return []string{"a", "a:1", "a:latest", "a@sha256:0123456789012345678901234567890123456789012345678901234567890123"}[s.random.Intn(4)]
		case name == "protocol":
			return []string{"TCP", "UDP"}[s.random.Intn(2)]
		case name == "type" && parent.Name() == "DeploymentStrategy":
			return []string{"RollingUpdate", "Recreate"}[s.random.Intn(2)]
		case name == "type" && strings.HasSuffix(parent.Name(), "UpdateStrategy"):
			return []string{"RollingUpdate", "OnDelete"}[s.random.Intn(2)]
		case name == "type" && parent.Name() == "ServiceSpec":
			return []string{"ClusterIP", "NodePort", "LoadBalancer", "ExternalName"}[s.random.Intn(4)]
		case name == "sessionAffinity":
			return []string{"None", "ClientIP"}[s.random.Intn(2)]
		case name == "kind" && parent.Name() == "Subject":
			return []string{"User", "Group", "ServiceAccount"}[s.random.Intn(3)]
		case name == "type" && parent.Name() == "LimitRangeItem":
			return []string{"Pod", "Container"}[s.random.Intn(2)]
		}
		return []string{"x", "y", "z"}[s.random.Intn(3)]
	case reflect.Map:
		m := map[string]any{}
		for range s.random.Intn(3) {
			key := []string{"cpu", "memory", "a"}[s.random.Intn(3)]
			if v := s.value(t.Elem(), name, depth+1, parent); v != nil {
				m[key] = v
			}
		}
		// Kubernetes compares the items of atomic lists before they are stored, where an empty map differs from none.
		if len(m) == 0 {
			return nil
		}
		return m
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "YWI="
		}
		return s.list(t, name, depth, parent)
	case reflect.Struct:
		return s.members(t, depth)
	}
	return nil
}

func (s *server) members(t reflect.Type, depth int) map[string]any {
	m := map[string]any{}
	for i := range t.NumField() {
		f := t.Field(i)
		name := jsonName(f)
		if name == "" {
			if f.Anonymous && f.Type.Kind() == reflect.Struct {
				// Of the members of a union there is at most one.
				if n := f.Type.NumField(); n > 0 && s.random.Intn(2) == 0 {
					one := f.Type.Field(s.random.Intn(n))
					if v := s.value(one.Type, jsonName(one), depth+1, f.Type); v != nil && jsonName(one) != "" {
						m[jsonName(one)] = v
					}
				}
			}
			continue
		}
		required := !strings.Contains(f.Tag.Get("json"), "omitempty")
		chance := 3 + depth
		if !required && s.random.Intn(chance) > 1 {
			continue
		}
		if v := s.value(f.Type, name, depth+1, t); v != nil {
			m[name] = v
		}
	}
	return m
}

// list is a random list, whose items differ in every field that may be a key.
func (s *server) list(t reflect.Type, name string, depth int, parent reflect.Type) any {
	elem := t.Elem()
	if elem.Kind() == reflect.String {
		return s.distinct("")
	}
	count := 1 + s.random.Intn(2)
	if depth > deepest-2 {
		count = 1
	}
	list := []any{}
	for _, i := range s.random.Perm(3)[:count] {
		v := s.value(elem, name, depth+1, parent)
		m, ok := v.(map[string]any)
		if !ok {
			if v != nil {
				list = append(list, v)
			}
			continue
		}
		for j := range elem.NumField() {
			f := elem.Field(j)
			switch key := jsonName(f); {
			case f.Type.Kind() == reflect.String && keys[key]:
				m[key] = fmt.Sprintf("k%d", i)
			case f.Type.Kind() == reflect.Int32 && keys[key]:
				m[key] = 1000 + i
			}
		}
		list = append(list, m)
	}
	return list
}

// keys are the fields that are keys of lists, or merge keys.
var keys = map[string]bool{
	"name": true, "containerPort": true, "port": true, "mountPath": true, "devicePath": true, "key": true, "topologyKey": true, "ip": true,
	"uid": true, "type": true, "resourceName": true, "whenUnsatisfiable": false, "podIP": true, "conditionType": true,
}

// patch is a random strategic merge patch of a live object: mostly what changes it into another one.
func (s *server) patch(live runtime.Object) json.RawMessage {
	before, after := s.encode(live), s.object(s.random.Intn(2))
	reference, err := scheme.Scheme.New(s.gvk)
	check(err)
	var patch []byte
	if s.random.Intn(4) == 0 {
		patch = after
	} else {
		patch, err = strategicpatch.CreateTwoWayMergePatch(before, merged(before, after), reference)
		if err != nil {
			patch = after
		}
	}
	changes := map[string]any{}
	check(unmarshal(patch, &changes))
	delete(changes, "status")
	if meta, ok := changes["metadata"].(map[string]any); ok {
		for key := range meta {
			if key != "labels" && !strings.Contains(key, "finalizers") {
				delete(meta, key)
			}
		}
	}
	if s.random.Intn(6) == 0 {
		s.tamper(changes)
	}
	text, err := json.Marshal(changes)
	check(err)
	return text
}

// merged is an object with the metadata and status of another one.
func merged(before, after []byte) []byte {
	a, b := map[string]any{}, map[string]any{}
	check(unmarshal(before, &a))
	check(unmarshal(after, &b))
	for _, key := range []string{"status"} {
		b[key] = a[key]
	}
	meta := map[string]any{}
	for key, value := range a["metadata"].(map[string]any) {
		meta[key] = value
	}
	for key, value := range b["metadata"].(map[string]any) {
		meta[key] = value
	}
	b["metadata"] = meta
	text, err := json.Marshal(b)
	check(err)
	return text
}

// tamper puts something unusual somewhere into a patch.
func (s *server) tamper(m map[string]any) {
	var maps []map[string]any
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			maps = append(maps, v)
			for _, key := range sortedKeys(v) {
				walk(v[key])
			}
		case []any:
			for _, item := range v {
				walk(item)
			}
		}
	}
	for _, key := range sortedKeys(m) {
		if key != "metadata" {
			walk(m[key])
		}
	}
	if len(maps) == 0 {
		return
	}
	at := maps[s.random.Intn(len(maps))]
	switch s.random.Intn(7) {
	case 0:
		at["$patch"] = "replace"
	case 1:
		at["$patch"] = "delete"
	case 2:
		at["$patch"] = "x"
	case 3:
		at["$retainKeys"] = []any{"name", "type"}
	case 4:
		for _, key := range sortedKeys(at) {
			if !strings.HasPrefix(key, "$") {
				at[key] = nil
				break
			}
		}
	case 5:
		for _, key := range sortedKeys(at) {
			if !strings.HasPrefix(key, "$") {
				at[key] = []any{5, "x", map[string]any{"a": 1}}[s.random.Intn(3)]
				break
			}
		}
	case 6:
		for _, key := range sortedKeys(at) {
			delete(at, key)
			break
		}
	}
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	for i := range keys {
		for j := i; j > 0 && keys[j] < keys[j-1]; j-- {
			keys[j], keys[j-1] = keys[j-1], keys[j]
		}
	}
	return keys
}
