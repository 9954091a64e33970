// Command judge records what Kubernetes does with random writes of built-in kinds: defaults and encoding, strategic merge
// patches, server-side applies and the owners of fields. record.sh builds it with the sources of a release.
//
//	judge SEED COUNT    one line of JSON for each object: {"steps": [...]}, each step with its request and its result
package main

import (
	"encoding/json"
	"math/rand"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/admissionregistration/install"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/certificates/install"
	_ "k8s.io/kubernetes/pkg/apis/coordination/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/discovery/install"
	_ "k8s.io/kubernetes/pkg/apis/flowcontrol/install"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	_ "k8s.io/kubernetes/pkg/apis/node/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/rbac/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// kinds are the kinds of the requests. Those with admission of their own are left out.
var kinds = []string{
	"v1 Pod", "v1 Service", "v1 ConfigMap", "v1 Secret", "v1 ServiceAccount", "v1 PersistentVolumeClaim", "v1 PersistentVolume",
	"v1 ReplicationController", "v1 ResourceQuota", "v1 LimitRange", "v1 PodTemplate", "v1 Endpoints", "v1 Node",
	"apps/v1 Deployment", "apps/v1 Deployment", "apps/v1 StatefulSet", "apps/v1 DaemonSet", "apps/v1 ReplicaSet", "apps/v1 ControllerRevision",
	"batch/v1 Job", "batch/v1 CronJob", "autoscaling/v2 HorizontalPodAutoscaler", "coordination.k8s.io/v1 Lease",
	"discovery.k8s.io/v1 EndpointSlice", "flowcontrol.apiserver.k8s.io/v1 FlowSchema", "flowcontrol.apiserver.k8s.io/v1 PriorityLevelConfiguration",
	"networking.k8s.io/v1 Ingress", "networking.k8s.io/v1 IngressClass", "networking.k8s.io/v1 NetworkPolicy", "node.k8s.io/v1 RuntimeClass",
	"policy/v1 PodDisruptionBudget", "rbac.authorization.k8s.io/v1 ClusterRole", "rbac.authorization.k8s.io/v1 RoleBinding",
	"scheduling.k8s.io/v1 PriorityClass", "storage.k8s.io/v1 StorageClass", "storage.k8s.io/v1 CSIDriver", "storage.k8s.io/v1 VolumeAttachment",
}

// step is a request and its result.
type step struct {
	Verb    string          `json:"verb"` // create, strategic, apply
	Manager string          `json:"manager"`
	Force   bool            `json:"force,omitempty"`
	Body    json.RawMessage `json:"body"`
	Proto   []byte          `json:"protobuf,omitempty"` // the body of a create as typed clients send it
	Object  json.RawMessage `json:"object,omitempty"`
	Error   string          `json:"error,omitempty"`
}

func main() {
	record(func(random *rand.Rand) any {
		s := &server{random: random, types: applyconfigurations.NewTypeConverter(scheme.Scheme)}
		return s.run()
	})
}

type server struct {
	random *rand.Rand
	types  managedfields.TypeConverter
	gvk    schema.GroupVersionKind
	fields *managedfields.FieldManager
}

func (s *server) run() map[string]any {
	apiVersion, kind, _ := strings.Cut(kinds[s.random.Intn(len(kinds))], " ")
	s.gvk = schema.FromAPIVersionAndKind(apiVersion, kind)
	status := fieldpath.NewExcludeSetFilter(fieldpath.NewSet(fieldpath.MakePathOrDie("status")))
	reset := map[fieldpath.APIVersion]fieldpath.Filter{}
	if hasStatus(s.gvk) {
		reset[fieldpath.APIVersion(apiVersion)] = status
	}
	var err error
	s.fields, err = managedfields.NewDefaultFieldManager(s.types, legacyscheme.Scheme, legacyscheme.Scheme, legacyscheme.Scheme, s.gvk,
		schema.GroupVersion{Group: s.gvk.Group, Version: runtime.APIVersionInternal}, "", reset)
	check(err)
	create := step{Verb: "create", Manager: "creator", Body: s.object(0)}
	create.Proto = s.protobuf(create.Body)
	live, err := s.create(create.Body)
	create.finish(s, live, err)
	steps := []step{create}
	for range 2 + s.random.Intn(3) {
		next := step{Manager: []string{"one", "two"}[s.random.Intn(2)]}
		var result runtime.Object
		if s.random.Intn(2) == 0 {
			next.Verb, next.Body = "strategic", s.patch(live)
			result, err = s.strategic(live, next.Body, next.Manager)
		} else {
			next.Verb, next.Body, next.Force = "apply", s.object(1), s.random.Intn(3) > 0
			result, err = s.apply(live, next.Body, next.Manager, next.Force)
		}
		next.finish(s, result, err)
		steps = append(steps, next)
		if err == nil {
			live = result
		}
	}
	return map[string]any{"steps": steps}
}

func (t *step) finish(s *server, object runtime.Object, err error) {
	if err != nil {
		t.Error = err.Error()
		return
	}
	t.Object = s.encode(object)
}

// protobuf is the body of a request as typed clients encode it.
func (s *server) protobuf(body []byte) []byte {
	object, err := scheme.Scheme.New(s.gvk)
	check(err)
	if json.Unmarshal(body, object) != nil {
		return nil
	}
	object.GetObjectKind().SetGroupVersionKind(s.gvk)
	text, err := runtime.Encode(protobuf.NewSerializer(scheme.Scheme, scheme.Scheme), object)
	check(err)
	return text
}

// hasStatus tells whether the status of a kind is a subresource.
func hasStatus(gvk schema.GroupVersionKind) bool {
	o, err := scheme.Scheme.New(gvk)
	check(err)
	text, err := json.Marshal(o)
	check(err)
	return strings.Contains(string(text), `"status"`) && gvk.Kind != "ComponentStatus" || gvk.Kind == "VolumeAttachment"
}

// encode is the object as JSON after it was stored as Protobuf.
func (s *server) encode(internal runtime.Object) json.RawMessage {
	text, err := runtime.Encode(legacyscheme.Codecs.EncoderForVersion(serializer(), s.gvk.GroupVersion()), s.stored(internal))
	check(err)
	return text
}

func serializer() runtime.Serializer {
	info, _ := runtime.SerializerInfoForMediaType(legacyscheme.Codecs.SupportedMediaTypes(), "application/json")
	return info.Serializer
}

func (s *server) stored(internal runtime.Object) runtime.Object {
	pb := protobuf.NewSerializer(legacyscheme.Scheme, legacyscheme.Scheme)
	codec := legacyscheme.Codecs.CodecForVersions(pb, pb, s.gvk.GroupVersion(), runtime.InternalGroupVersioner)
	text, err := runtime.Encode(codec, internal)
	check(err)
	object, err := runtime.Decode(codec, text)
	check(err)
	return object
}

func (s *server) create(body []byte) (runtime.Object, error) {
	object, _, err := legacyscheme.Codecs.UniversalDecoder(schema.GroupVersion{Group: s.gvk.Group, Version: runtime.APIVersionInternal}).Decode(body, &s.gvk, nil)
	if err != nil {
		return nil, err
	}
	empty, err := legacyscheme.Scheme.New(s.gvk)
	check(err)
	object = s.fields.UpdateNoErrors(empty, object, "creator")
	meta := object.(metav1.Object)
	meta.SetUID("u")
	return s.stored(object), nil
}

func (s *server) versioned(live runtime.Object) runtime.Object {
	object, err := legacyscheme.Scheme.ConvertToVersion(live.DeepCopyObject(), s.gvk.GroupVersion())
	check(err)
	return object
}

func (s *server) internal(object runtime.Object) (runtime.Object, error) {
	return legacyscheme.Scheme.ConvertToVersion(object, schema.GroupVersion{Group: s.gvk.Group, Version: runtime.APIVersionInternal})
}

func (s *server) strategic(live runtime.Object, patch []byte, manager string) (runtime.Object, error) {
	current, err := runtime.DefaultUnstructuredConverter.ToUnstructured(s.versioned(live))
	check(err)
	changes := map[string]any{}
	check(unmarshal(patch, &changes))
	reference, err := legacyscheme.Scheme.New(s.gvk)
	check(err)
	merged, err := strategicpatch.StrategicMergeMapPatch(current, changes, reference)
	if err != nil {
		return nil, err
	}
	object, err := legacyscheme.Scheme.New(s.gvk)
	check(err)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(merged, object, false); err != nil {
		return nil, err
	}
	legacyscheme.Scheme.Default(object)
	internal, err := s.internal(object)
	if err != nil {
		return nil, err
	}
	return s.stored(s.fields.UpdateNoErrors(live.DeepCopyObject(), internal, manager)), nil
}

func (s *server) apply(live runtime.Object, body []byte, manager string, force bool) (runtime.Object, error) {
	patch := &unstructured.Unstructured{Object: map[string]any{}}
	check(unmarshal(body, &patch.Object))
	object, err := s.fields.Apply(live.DeepCopyObject(), patch, manager, force)
	if err != nil {
		return nil, err
	}
	internal, err := s.internal(object)
	if err != nil {
		return nil, err
	}
	return s.stored(internal), nil
}
