// Command judge records how Kubernetes converts random HorizontalPodAutoscalers between autoscaling/v1 and autoscaling/v2.
// record.sh builds it with the sources of a release.
//
//	judge SEED COUNT    one line of JSON for each object: the body of a request, and the object in both versions after it was stored
package main

import (
	"encoding/json"
	"math/rand"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
)

type object = map[string]any

func main() {
	record(func(random *rand.Rand) any {
		g := generator{random}
		body := g.v2()
		if g.one(2) {
			check(json.Unmarshal(encode(stored(text(body)), "v1"), &body))
			g.disturb(body)
		}
		internal := stored(text(body))
		return object{"body": body, "v1": json.RawMessage(encode(internal, "v1")), "v2": json.RawMessage(encode(internal, "v2"))}
	})
}

func text(value any) []byte {
	out, err := json.Marshal(value)
	check(err)
	return out
}

// stored is the object of a request after it was stored as Protobuf.
func stored(body []byte) runtime.Object {
	internal, err := runtime.Decode(legacyscheme.Codecs.UniversalDecoder(schema.GroupVersion{Group: "autoscaling", Version: runtime.APIVersionInternal}), body)
	check(err)
	pb := protobuf.NewSerializer(legacyscheme.Scheme, legacyscheme.Scheme)
	codec := legacyscheme.Codecs.CodecForVersions(pb, pb, schema.GroupVersion{Group: "autoscaling", Version: "v2"}, runtime.InternalGroupVersioner)
	message, err := runtime.Encode(codec, internal)
	check(err)
	internal, err = runtime.Decode(codec, message)
	check(err)
	return internal
}

func encode(internal runtime.Object, version string) []byte {
	info, _ := runtime.SerializerInfoForMediaType(legacyscheme.Codecs.SupportedMediaTypes(), "application/json")
	out, err := runtime.Encode(legacyscheme.Codecs.EncoderForVersion(info.Serializer, schema.GroupVersion{Group: "autoscaling", Version: version}), internal)
	check(err)
	return out
}

type generator struct{ *rand.Rand }

// one is true once in n times.
func (g generator) one(n int) bool { return g.Intn(n) == 0 }

func (g generator) of(values ...string) string { return values[g.Intn(len(values))] }

// some sets some of the members.
func (g generator) some(into object, members object) object {
	keys := []string{"value", "averageValue", "averageUtilization", "selector", "apiVersion", "reason", "message", "lastTransitionTime", "observedGeneration",
		"stabilizationWindowSeconds", "selectPolicy", "policies", "tolerance", "scaleUp", "scaleDown", "minReplicas", "behavior", "metrics",
		"lastScaleTime", "currentReplicas", "desiredReplicas", "currentMetrics", "conditions"}
	for _, key := range keys {
		if value, ok := members[key]; ok && g.one(2) {
			into[key] = value
		}
	}
	return into
}

func (g generator) quantity() string { return g.of("1", "0", "100m", "1.5", "2Gi", "1500m", "1000") }

func (g generator) reference() object {
	return g.some(object{"kind": "Deployment", "name": g.of("a", "<b>")}, object{"apiVersion": "apps/v1"})
}

func (g generator) identifier() object {
	selector := object{"matchLabels": object{"b": "1", "a": "2"}}
	if g.one(2) {
		selector["matchExpressions"] = []object{{"key": "k", "operator": "In", "values": []string{"v", "u"}}}
	}
	return g.some(object{"name": g.of("requests", "m&m")}, object{"selector": selector})
}

func (g generator) metric(part string) object {
	values := object{"value": g.quantity(), "averageValue": g.quantity(), "averageUtilization": g.Intn(200)}
	amount := g.some(object{}, values)
	if part == "target" {
		amount["type"] = g.of("Utilization", "Value", "AverageValue")
	}
	source := object{part: amount}
	kind := g.of("Object", "Pods", "Resource", "Resource", "ContainerResource", "External")
	switch kind {
	case "Object":
		source["describedObject"], source["metric"] = g.reference(), g.identifier()
	case "Pods", "External":
		source["metric"] = g.identifier()
	case "Resource":
		source["name"] = g.of("cpu", "cpu", "memory")
	case "ContainerResource":
		source["name"], source["container"] = g.of("cpu", "memory"), "c"
	}
	metric := object{"type": kind, strings.ToLower(kind[:1]) + kind[1:]: source}
	if g.one(20) {
		metric["type"] = "Pods"
	}
	return metric
}

func (g generator) list(most int, item func() object) []object {
	list := []object{}
	for range g.Intn(most + 1) {
		list = append(list, item())
	}
	return list
}

func (g generator) rules() object {
	policy := func() object {
		return object{"type": g.of("Pods", "Percent"), "value": g.Intn(9), "periodSeconds": g.Intn(60)}
	}
	return g.some(object{}, object{
		"stabilizationWindowSeconds": g.Intn(300), "selectPolicy": g.of("Max", "Min", "Disabled"), "policies": g.list(2, policy), "tolerance": g.of("0.1", "50m"),
	})
}

func (g generator) v2() object {
	behavior := g.some(object{}, object{"scaleUp": g.rules(), "scaleDown": g.rules()})
	condition := func() object {
		return g.some(object{"type": g.of("AbleToScale", "ScalingActive"), "status": g.of("True", "False")}, object{
			"lastTransitionTime": "2026-01-02T03:04:05Z", "reason": "R", "message": "a \"b\" <c>", "observedGeneration": g.Intn(4),
		})
	}
	spec := g.some(object{"scaleTargetRef": g.reference(), "maxReplicas": g.Intn(9)}, object{
		"minReplicas": g.Intn(4), "behavior": behavior, "metrics": g.list(3, func() object { return g.metric("target") }),
	})
	status := g.some(object{}, object{
		"lastScaleTime": "2026-01-02T03:04:05Z", "currentReplicas": g.Intn(4), "desiredReplicas": g.Intn(4),
		"currentMetrics": g.list(3, func() object { return g.metric("current") }), "conditions": g.list(2, condition),
	})
	metadata := object{"name": "h"}
	if g.one(3) {
		metadata["annotations"] = object{"autoscaling.alpha.kubernetes.io/scale-up-tolerance": "1", "example.com/a": "b"}
	}
	return object{"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": metadata, "spec": spec, "status": status}
}

// disturb changes the annotations and the utilization of an object of autoscaling/v1.
func (g generator) disturb(body object) {
	spec := body["spec"].(object)
	if g.one(4) {
		spec["targetCPUUtilizationPercentage"] = g.Intn(100)
	}
	if g.one(4) {
		body["status"].(object)["currentCPUUtilizationPercentage"] = g.Intn(100)
	}
	annotations, _ := body["metadata"].(object)["annotations"].(object)
	for _, name := range []string{"metrics", "current-metrics", "conditions", "behavior"} {
		name = "autoscaling.alpha.kubernetes.io/" + name
		before, ok := annotations[name].(string)
		if !ok || !g.one(3) {
			continue
		}
		switch g.Intn(5) {
		case 0:
			annotations[name] = g.of("null", "[]", "{}", "7", "[", "\"a\"", "[null]", "[{}]")
		case 1:
			annotations[name] = strings.Replace(before, `"type"`, `"Type"`, 1)
		case 2:
			annotations[name] = strings.Replace(before, `"ScaleUp"`, `"scaleup"`, 1)
		case 3:
			annotations[name] = strings.Replace(before, `"name":"cpu"`, `"name":7`, 1)
		case 4:
			delete(annotations, name)
		}
	}
}
