// Command strategic_patches records the patches of `kubectl apply` for random objects of built-in kinds, and what a server makes of
// them (k8s.io/apimachinery/pkg/util/strategicpatch); from tests/apiserver:
//
//	go run facts/strategic_patches.go SEED COUNT | gzip -9n > ../facts/strategic-patches.jsonl.gz
//
// Each line has the type, the configuration applied last (original), the new one (modified) and the object on the server (current); the patch or
// its error (patchError); and the result of the patch or its error. Lines without modified have a patch that kubectl does not make. Results
// that depend on the order of Go's maps are left out.
//
//go:build ignore

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"reflect"
	"strconv"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

type object = map[string]any

var r *rand.Rand

var types = map[string]func() runtime.Object{
	"core/v1.Service":        func() runtime.Object { return &core.Service{} },
	"core/v1.ServiceAccount": func() runtime.Object { return &core.ServiceAccount{} },
	"core/v1.ConfigMap":      func() runtime.Object { return &core.ConfigMap{} },
	"core/v1.Node":           func() runtime.Object { return &core.Node{} },
	"apps/v1.Deployment":     func() runtime.Object { return &apps.Deployment{} },
}

var mergeKeys = map[string]bool{"name": true, "port": true, "containerPort": true, "uid": true, "mountPath": true, "ip": true, "topologyKey": true}

func one[T any](of ...T) T { return of[r.Intn(len(of))] }

func chance(percent int) bool { return r.Intn(100) < percent }

// The length of a list: mostly short; some are longer than what Go sorts by insertion, or in one block.
func length() int {
	switch n := r.Intn(100); {
	case n < 96:
		return r.Intn(5)
	case n < 99:
		return 10 + r.Intn(15)
	}
	return 20 + r.Intn(60)
}

// The n-th of some names. Long lists have more names, and equal ones all the same.
func name(n int) string { return string(rune('a'+r.Intn(3+n/6)%26)) + one("", "", "", strconv.Itoa(r.Intn(1+n/8))) }

func list(item func(n int) any) []any {
	n := length()
	out := make([]any, 0, n)
	for range n {
		out = append(out, item(n))
	}
	return out
}

func with(out object, percent int, key string, value func() any) {
	if chance(percent) {
		out[key] = value()
	}
}

func port(n int) any { return int64(80 + r.Intn(3+n/4)) }

func container(n int) any {
	out := object{"name": name(n)}
	with(out, 60, "image", func() any { return one("i", "j") })
	with(out, 40, "args", func() any { return []any{one("x", "y")} })
	with(out, 40, "env", func() any {
		return list(func(n int) any {
			env := object{"name": name(n)}
			with(env, 70, "value", func() any { return one("1", "2", "") })
			with(env, 10, "valueFrom", func() any { return object{"fieldRef": object{"fieldPath": one("a", "b")}} })
			return env
		})
	})
	with(out, 40, "ports", func() any {
		return list(func(n int) any {
			out := object{"containerPort": port(n)}
			with(out, 70, "protocol", func() any { return one("TCP", "UDP") })
			with(out, 20, "hostPort", func() any { return port(n) })
			return out
		})
	})
	with(out, 20, "volumeMounts", func() any {
		return list(func(n int) any { return object{"name": one("v", "w"), "mountPath": "/" + name(n)} })
	})
	with(out, 20, "resources", func() any { return object{"limits": object{one("cpu", "memory"): one("1", "2")}} })
	return out
}

func volume(n int) any {
	out := object{"name": name(n)}
	switch r.Intn(3) {
	case 0:
		out["emptyDir"] = object{}
	case 1:
		out["configMap"] = object{"name": one("a", "b")}
	case 2:
		out["secret"] = object{"secretName": one("a", "b"), "optional": chance(50)}
	}
	return out
}

func metadata() any {
	out := object{"name": "a"}
	with(out, 40, "labels", func() any { return object{one("a", "b", "c"): one("1", "2"), one("a", "b", "c"): one("1", "2")} })
	with(out, 40, "finalizers", func() any { return list(func(n int) any { return name(n) }) })
	with(out, 20, "ownerReferences", func() any {
		return list(func(n int) any {
			out := object{"apiVersion": "v1", "kind": one("A", "B"), "name": "x", "uid": name(n)}
			with(out, 30, "controller", func() any { return chance(50) })
			return out
		})
	})
	return out
}

func secrets() any { return list(func(n int) any { return object{"name": name(n)} }) }

func generate(type_ string) object {
	out := object{"metadata": metadata()}
	switch type_ {
	case "core/v1.Service":
		spec := object{}
		with(spec, 90, "ports", func() any {
			return list(func(n int) any {
				out := object{"port": port(n)}
				with(out, 70, "protocol", func() any { return one("TCP", "UDP") })
				with(out, 50, "name", func() any { return one("x", "y", "z") })
				with(out, 30, "targetPort", func() any { return one[any](int64(8080), "http") })
				return out
			})
		})
		with(spec, 50, "selector", func() any { return object{one("a", "b"): one("1", "2")} })
		with(spec, 30, "externalIPs", func() any { return []any{one("1.1.1.1", "2.2.2.2")} })
		out["spec"] = spec
	case "core/v1.ServiceAccount":
		with(out, 80, "imagePullSecrets", secrets)
		with(out, 50, "secrets", func() any {
			return list(func(n int) any {
				out := object{"namespace": one("n", "m")}
				with(out, 97, "name", func() any { return name(n) })
				return out
			})
		})
	case "core/v1.ConfigMap":
		with(out, 60, "data", func() any { return object{one("a", "b"): one("1", "2")} })
	case "core/v1.Node":
		spec := object{}
		with(spec, 60, "podCIDRs", func() any { return list(func(n int) any { return name(n) }) })
		with(spec, 60, "taints", func() any { return []any{object{"key": one("a", "b"), "effect": "NoSchedule"}} })
		out["spec"] = spec
	case "apps/v1.Deployment":
		pod := object{"containers": list(container)}
		with(pod, 20, "initContainers", func() any { return list(container) })
		with(pod, 50, "volumes", func() any { return list(volume) })
		with(pod, 30, "imagePullSecrets", secrets)
		with(pod, 20, "hostAliases", func() any {
			return list(func(n int) any { return object{"ip": name(n), "hostnames": []any{one("h", "i")}} })
		})
		with(pod, 20, "topologySpreadConstraints", func() any {
			return list(func(n int) any {
				return object{"maxSkew": int64(1), "topologyKey": name(n), "whenUnsatisfiable": one("DoNotSchedule", "ScheduleAnyway")}
			})
		})
		with(pod, 20, "tolerations", func() any { return []any{object{"key": one("a", "b")}} })
		with(pod, 20, "securityContext", func() any { return object{"runAsUser": int64(r.Intn(2))} })
		spec := object{"template": object{"metadata": metadata(), "spec": pod}}
		with(spec, 40, "replicas", func() any { return int64(r.Intn(3)) })
		with(spec, 40, "strategy", func() any {
			out := object{"type": one("RollingUpdate", "Recreate")}
			with(out, 50, "rollingUpdate", func() any { return object{"maxSurge": one[any](int64(1), "25%")} })
			return out
		})
		out["spec"] = spec
	}
	return out
}

// Changes some values; other has values for the same places.
func change(value, other any, percent int) any {
	switch value := value.(type) {
	case object:
		others, _ := other.(object)
		out := object{}
		for _, key := range keys(value, others) {
			mine, isMine := value[key]
			theirs, isTheirs := others[key]
			switch {
			case key == "metadata", key == "template", key == "spec":
				out[key] = change(mine, theirs, percent)
			case isMine && (mergeKeys[key] && !chance(1) || !chance(percent/2)):
				out[key] = change(mine, theirs, percent)
			case isTheirs && chance(60):
				out[key] = theirs
			}
		}
		return out
	case []any:
		others, _ := other.([]any)
		out := []any{}
		for at, item := range value {
			switch {
			case chance(percent / 3):
			case at < len(others):
				out = append(out, change(item, others[at], percent))
			default:
				out = append(out, change(item, nil, percent))
			}
		}
		for _, item := range others {
			if chance(percent / 3) {
				out = append(out, item)
			}
		}
		if len(out) > 0 && chance(percent/3) {
			out = append(out, out[r.Intn(len(out))])
		}
		if chance(percent / 3) {
			r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
		}
		return out
	}
	if other != nil && chance(percent) {
		return other
	}
	return value
}

// The names of both maps, sorted.
func keys(maps ...object) []string {
	all := object{}
	for _, one := range maps {
		for key := range one {
			all[key] = nil
		}
	}
	text, _ := json.Marshal(all)
	var out []string
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.Token()
	for decoder.More() {
		key, _ := decoder.Token()
		decoder.Token()
		out = append(out, key.(string))
	}
	return out
}

// Adds what users rarely write: nulls, directives, items of a wrong type, items without merge key.
func spoil(value any, times *int) any {
	switch value := value.(type) {
	case object:
		for _, key := range keys(value) {
			if *times > 0 && chance(8) {
				*times--
				switch r.Intn(6) {
				case 0:
					value["$patch"] = one("delete", "replace", "merge", "x")
				case 1:
					value["$retainKeys"] = []any{key, one("name", "type")}
				case 2:
					delete(value, key)
				default:
					value[key] = nil
				}
				continue
			}
			value[key] = spoil(value[key], times)
		}
		return value
	case []any:
		for at := range value {
			if *times > 0 && chance(8) {
				*times--
				if len(value) > 0 {
					switch item := value[at].(type) {
					case object:
						key := one("name", "port", "containerPort", "uid", "mountPath")
						if chance(50) {
							value[at] = object{key: item[key], "$patch": one("delete", "delete", "replace")}
						} else if chance(30) {
							delete(item, key)
						} else if chance(10) {
							value[at] = "text"
						}
					case string:
						if chance(30) {
							value[at] = int64(1)
						}
					}
				}
				continue
			}
			value[at] = spoil(value[at], times)
		}
		return value
	}
	return value
}

// Changes a patch: removes or adds directives.
func twist(value any) any {
	out, isObject := value.(object)
	if !isObject {
		if items, isList := value.([]any); isList {
			for at := range items {
				items[at] = twist(items[at])
			}
			if len(items) > 0 && chance(5) {
				items = append(items, items[r.Intn(len(items))])
			}
			if chance(10) {
				r.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
			}
			return items
		}
		return value
	}
	for _, key := range keys(out) {
		switch {
		case key[0] == '$' && chance(15):
			delete(out, key)
		case chance(2):
			out[key] = nil
		case chance(2):
			out["$deleteFromPrimitiveList/"+key] = out[key]
		case chance(2):
			out["$setElementOrder/"+key] = out[key]
		default:
			out[key] = twist(out[key])
		}
	}
	return out
}

func copyOf(value any) any {
	var out any
	check(utiljson.Unmarshal(encoded(value), &out))
	return out
}

func mapOf(text []byte) object {
	out := object{}
	check(utiljson.Unmarshal(text, &out))
	return out
}

func encoded(value any) []byte {
	text, err := json.Marshal(value)
	check(err)
	return text
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// The result of a function, or its error, if it is the same each time. Panics have none.
func repeated(run func() (any, error)) (result any, failure string, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	for n := range 24 {
		found, err := run()
		message := ""
		if err != nil {
			found, message = nil, err.Error()
		} else {
			found = copyOf(found)
		}
		if n > 0 && (message != failure || !reflect.DeepEqual(found, result)) {
			return nil, "", false
		}
		result, failure = found, message
	}
	return result, failure, true
}

// Applies a patch as the server does with an object from its watch cache, which is a copy: its lists have no free capacity.
func apply(type_ string, current, patch any) (any, error) {
	typed := types[type_]()
	check(utiljson.Unmarshal(encoded(current), typed))
	typed = typed.DeepCopyObject()
	stored, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	check(err)
	return strategicpatch.StrategicMergeMapPatch(stored, mapOf(encoded(patch)), types[type_]())
}

func main() {
	seed, _ := strconv.Atoi(os.Args[1])
	count, _ := strconv.Atoi(os.Args[2])
	r = rand.New(rand.NewSource(int64(seed)))
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	names := []string{"core/v1.Service", "core/v1.ServiceAccount", "core/v1.ConfigMap", "core/v1.Node", "apps/v1.Deployment", "apps/v1.Deployment"}
	for n := 0; n < count; {
		type_ := one(names...)
		original := generate(type_)
		modified := change(copyOf(original), generate(type_), 30).(object)
		current := change(copyOf(original), generate(type_), 20).(object)
		if chance(10) {
			current = copyOf(modified).(object)
		}
		if chance(15) {
			times := 1 + r.Intn(2)
			modified = spoil(modified, &times).(object)
		}
		if chance(5) {
			times := 1
			original = spoil(original, &times).(object)
		}
		typed := types[type_]()
		check(utiljson.Unmarshal(encoded(current), typed))
		stored, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
		check(err)
		current = mapOf(encoded(stored))
		meta, err := strategicpatch.NewPatchMetaFromStruct(types[type_]())
		check(err)
		patch, failure, ok := repeated(func() (any, error) {
			text, err := strategicpatch.CreateThreeWayMergePatch(encoded(original), encoded(modified), encoded(current), meta, true)
			if err != nil {
				return nil, err
			}
			return mapOf(text), nil
		})
		if !ok {
			continue
		}
		line := object{"type": type_, "original": original, "modified": modified, "current": current}
		if failure != "" {
			line["patchError"] = failure
			out.Write(append(encoded(line), '\n'))
			n++
			continue
		}
		if len(patch.(object)) == 0 && chance(80) {
			continue
		}
		if chance(30) {
			patch = twist(patch)
			line = object{"type": type_, "current": current}
		}
		line["patch"] = patch
		result, failure, ok := repeated(func() (any, error) { return apply(type_, current, patch) })
		if !ok {
			continue
		}
		if failure != "" {
			line["error"] = failure
		} else {
			line["result"] = result
		}
		out.Write(append(encoded(line), '\n'))
		n++
	}
	fmt.Fprintln(os.Stderr, "done")
}
