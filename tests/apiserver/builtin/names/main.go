// Command judge records what Kubernetes says about the metadata of new built-in objects: the errors of `Validate` of each
// kind's strategy, then those of the checks common to all kinds. JUDGE=names record.sh builds it with the sources of a release.
//
//	judge    one line of JSON for each kind and metadata: {"apiVersion", "kind", "resource", "metadata", "errors"}
package main

import (
	"encoding/json"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	genericvalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/api/validation/path"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/admissionregistration/install"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/certificates/install"
	_ "k8s.io/kubernetes/pkg/apis/coordination/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/discovery/install"
	_ "k8s.io/kubernetes/pkg/apis/events/install"
	_ "k8s.io/kubernetes/pkg/apis/flowcontrol/install"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	_ "k8s.io/kubernetes/pkg/apis/node/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/rbac/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingwebhookconfiguration"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/validatingwebhookconfiguration"
	"k8s.io/kubernetes/pkg/registry/apps/controllerrevision"
	"k8s.io/kubernetes/pkg/registry/apps/daemonset"
	"k8s.io/kubernetes/pkg/registry/apps/deployment"
	"k8s.io/kubernetes/pkg/registry/apps/replicaset"
	"k8s.io/kubernetes/pkg/registry/apps/statefulset"
	"k8s.io/kubernetes/pkg/registry/autoscaling/horizontalpodautoscaler"
	"k8s.io/kubernetes/pkg/registry/batch/cronjob"
	"k8s.io/kubernetes/pkg/registry/batch/job"
	"k8s.io/kubernetes/pkg/registry/certificates/certificates"
	"k8s.io/kubernetes/pkg/registry/coordination/lease"
	"k8s.io/kubernetes/pkg/registry/core/configmap"
	"k8s.io/kubernetes/pkg/registry/core/endpoint"
	"k8s.io/kubernetes/pkg/registry/core/event"
	"k8s.io/kubernetes/pkg/registry/core/limitrange"
	"k8s.io/kubernetes/pkg/registry/core/node"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolume"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolumeclaim"
	"k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/kubernetes/pkg/registry/core/podtemplate"
	"k8s.io/kubernetes/pkg/registry/core/replicationcontroller"
	"k8s.io/kubernetes/pkg/registry/core/resourcequota"
	"k8s.io/kubernetes/pkg/registry/core/secret"
	"k8s.io/kubernetes/pkg/registry/core/service"
	"k8s.io/kubernetes/pkg/registry/core/serviceaccount"
	"k8s.io/kubernetes/pkg/registry/discovery/endpointslice"
	"k8s.io/kubernetes/pkg/registry/flowcontrol/flowschema"
	"k8s.io/kubernetes/pkg/registry/flowcontrol/prioritylevelconfiguration"
	"k8s.io/kubernetes/pkg/registry/networking/ingress"
	"k8s.io/kubernetes/pkg/registry/networking/ingressclass"
	"k8s.io/kubernetes/pkg/registry/networking/ipaddress"
	"k8s.io/kubernetes/pkg/registry/networking/networkpolicy"
	"k8s.io/kubernetes/pkg/registry/networking/servicecidr"
	"k8s.io/kubernetes/pkg/registry/node/runtimeclass"
	"k8s.io/kubernetes/pkg/registry/policy/poddisruptionbudget"
	"k8s.io/kubernetes/pkg/registry/rbac/clusterrole"
	"k8s.io/kubernetes/pkg/registry/rbac/clusterrolebinding"
	"k8s.io/kubernetes/pkg/registry/rbac/role"
	"k8s.io/kubernetes/pkg/registry/rbac/rolebinding"
	"k8s.io/kubernetes/pkg/registry/scheduling/priorityclass"
	"k8s.io/kubernetes/pkg/registry/storage/csidriver"
	"k8s.io/kubernetes/pkg/registry/storage/csinode"
	"k8s.io/kubernetes/pkg/registry/storage/csistoragecapacity"
	"k8s.io/kubernetes/pkg/registry/storage/storageclass"
	"k8s.io/kubernetes/pkg/registry/storage/volumeattachment"
)

type kind struct {
	apiVersion, kind, resource string
	strategy                   rest.RESTCreateStrategy
}

var kinds = []kind{
	{"v1", "ConfigMap", "configmaps", configmap.Strategy},
	{"v1", "Endpoints", "endpoints", endpoint.Strategy},
	{"v1", "Event", "events", event.Strategy},
	{"events.k8s.io/v1", "Event", "events", event.Strategy},
	{"v1", "LimitRange", "limitranges", limitrange.Strategy},
	{"v1", "Node", "nodes", node.Strategy},
	{"v1", "PersistentVolume", "persistentvolumes", persistentvolume.Strategy},
	{"v1", "PersistentVolumeClaim", "persistentvolumeclaims", persistentvolumeclaim.Strategy},
	{"v1", "Pod", "pods", pod.Strategy},
	{"v1", "PodTemplate", "podtemplates", podtemplate.Strategy},
	{"v1", "ReplicationController", "replicationcontrollers", replicationcontroller.Strategy},
	{"v1", "ResourceQuota", "resourcequotas", resourcequota.Strategy},
	{"v1", "Secret", "secrets", secret.Strategy},
	{"v1", "Service", "services", service.Strategy},
	{"v1", "ServiceAccount", "serviceaccounts", serviceaccount.Strategy},
	{"admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", mutatingwebhookconfiguration.Strategy},
	{"admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", validatingwebhookconfiguration.Strategy},
	{"apps/v1", "ControllerRevision", "controllerrevisions", controllerrevision.Strategy},
	{"apps/v1", "DaemonSet", "daemonsets", daemonset.Strategy},
	{"apps/v1", "Deployment", "deployments", deployment.Strategy},
	{"apps/v1", "ReplicaSet", "replicasets", replicaset.Strategy},
	{"apps/v1", "StatefulSet", "statefulsets", statefulset.Strategy},
	{"autoscaling/v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", horizontalpodautoscaler.Strategy},
	{"batch/v1", "CronJob", "cronjobs", cronjob.Strategy},
	{"batch/v1", "Job", "jobs", job.Strategy},
	{"certificates.k8s.io/v1", "CertificateSigningRequest", "certificatesigningrequests", certificates.Strategy},
	{"coordination.k8s.io/v1", "Lease", "leases", lease.Strategy},
	{"discovery.k8s.io/v1", "EndpointSlice", "endpointslices", endpointslice.Strategy},
	{"flowcontrol.apiserver.k8s.io/v1", "FlowSchema", "flowschemas", flowschema.Strategy},
	{"flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration", "prioritylevelconfigurations", prioritylevelconfiguration.Strategy},
	{"networking.k8s.io/v1", "Ingress", "ingresses", ingress.Strategy},
	{"networking.k8s.io/v1", "IngressClass", "ingressclasses", ingressclass.Strategy},
	{"networking.k8s.io/v1", "IPAddress", "ipaddresses", ipaddress.Strategy},
	{"networking.k8s.io/v1", "NetworkPolicy", "networkpolicies", networkpolicy.Strategy},
	{"networking.k8s.io/v1", "ServiceCIDR", "servicecidrs", servicecidr.Strategy},
	{"node.k8s.io/v1", "RuntimeClass", "runtimeclasses", runtimeclass.Strategy},
	{"policy/v1", "PodDisruptionBudget", "poddisruptionbudgets", poddisruptionbudget.Strategy},
	{"rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles", clusterrole.Strategy},
	{"rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "clusterrolebindings", clusterrolebinding.Strategy},
	{"rbac.authorization.k8s.io/v1", "Role", "roles", role.Strategy},
	{"rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings", rolebinding.Strategy},
	{"scheduling.k8s.io/v1", "PriorityClass", "priorityclasses", priorityclass.Strategy},
	{"storage.k8s.io/v1", "CSIDriver", "csidrivers", csidriver.Strategy},
	{"storage.k8s.io/v1", "CSINode", "csinodes", csinode.Strategy},
	{"storage.k8s.io/v1", "CSIStorageCapacity", "csistoragecapacities", csistoragecapacity.Strategy},
	{"storage.k8s.io/v1", "StorageClass", "storageclasses", storageclass.Strategy},
	{"storage.k8s.io/v1", "VolumeAttachment", "volumeattachments", volumeattachment.Strategy},
}

// cases are the metadata of new objects.
func cases() []map[string]any {
	long := strings.Repeat("a", 64)
	all := []map[string]any{}
	for _, name := range []string{"a", "a.b", "1-a", "A", "a_b", "a:b", "-a", "a-", "..", "a/b", "a%", long, strings.Repeat("a", 254), "10.0.0.1", "10.0.0.01", "2001:db8::1", "2001:DB8::1", "::ffff:1.2.3.4"} {
		all = append(all, map[string]any{"name": name})
	}
	for _, prefix := range []string{"a-", "a.b-", "A-", "1a", ".", "a/"} {
		all = append(all, map[string]any{"name": "a", "generateName": prefix})
	}
	for _, finalizers := range [][]string{{"a"}, {"kubernetes", "a.b/c"}, {"orphan", "foregroundDeletion"}, {"a/b/c"}} {
		all = append(all, map[string]any{"name": "a", "finalizers": finalizers})
	}
	return append(all,
		map[string]any{"name": "a_", "labels": map[string]string{"a b": "c d"}, "annotations": map[string]string{"/": ""}},
		map[string]any{"name": "a", "ownerReferences": []map[string]string{{"apiVersion": "v1", "kind": "", "name": "o", "uid": "u"}}})
}

func main() {
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for _, k := range kinds {
		gv, err := schema.ParseGroupVersion(k.apiVersion)
		check(err)
		if !legacyscheme.Scheme.IsVersionRegistered(gv) || !legacyscheme.Scheme.Recognizes(gv.WithKind(k.kind)) {
			continue
		}
		for _, metadata := range cases() {
			errors := []string{}
			for _, err := range k.validate(gv, metadata) {
				if strings.HasPrefix(err.Field, "metadata") {
					errors = append(errors, err.Error())
				}
			}
			check(out.Encode(map[string]any{"apiVersion": k.apiVersion, "kind": k.kind, "resource": k.resource,
				"namespaced": k.strategy.NamespaceScoped(), "metadata": metadata, "errors": errors}))
		}
	}
}

func (k kind) validate(gv schema.GroupVersion, metadata map[string]any) field.ErrorList {
	body, err := json.Marshal(map[string]any{"apiVersion": k.apiVersion, "kind": k.kind, "metadata": metadata})
	check(err)
	gvk := gv.WithKind(k.kind)
	internal := schema.GroupVersion{Group: gv.Group, Version: runtime.APIVersionInternal}
	object, _, err := legacyscheme.Codecs.UniversalDecoder(internal).Decode(body, &gvk, nil)
	check(err)
	ctx := request.WithRequestInfo(request.NewContext(), &request.RequestInfo{IsResourceRequest: true, APIGroup: gv.Group, APIVersion: gv.Version, Resource: k.resource, Verb: "create"})
	accessor, err := meta.Accessor(object)
	check(err)
	if k.strategy.NamespaceScoped() {
		accessor.SetNamespace("default")
		ctx = request.WithNamespace(ctx, "default")
	}
	errors := k.strategy.Validate(ctx, object)
	for _, err := range errors {
		if strings.HasPrefix(err.Field, "metadata") {
			return errors
		}
	}
	return genericvalidation.ValidateObjectMetaAccessor(accessor, k.strategy.NamespaceScoped(), path.ValidatePathSegmentName, field.NewPath("metadata"))
}
