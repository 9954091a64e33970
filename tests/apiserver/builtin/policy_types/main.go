// Adds to each policy of standard input ({name, spec}, one on a line) what the controller of ValidatingAdmissionPolicies in
// kube-controller-manager writes to status.typeChecking: {name, spec, warnings: [[field, warning]]}. The kinds are those that the
// server of a kubeconfig serves. usage: JUDGE=policy_types record.sh KUBECONFIG < LINES
package main

import (
	"encoding/json"
	"os"
	"regexp"

	v1 "k8s.io/api/admissionregistration/v1"
	apiextensionsscheme "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/scheme"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	k8sscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/kubernetes/pkg/generated/openapi"
)

// The random numbers in the names of types.
var number = regexp.MustCompile(`\b([A-Z][A-Za-z]+)\d{4,9}\b`)

type line struct {
	Name     string          `json:"name"`
	Spec     json.RawMessage `json:"spec"`
	Warnings [][2]string     `json:"warnings"`
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

func main() {
	client := must(discovery.NewDiscoveryClientForConfig(must(clientcmd.BuildConfigFromFlags("", os.Args[1]))))
	definitions := resolver.NewDefinitionsSchemaResolver(openapi.GetOpenAPIDefinitions, k8sscheme.Scheme, apiextensionsscheme.Scheme)
	checker := &validating.TypeChecker{
		SchemaResolver: definitions.Combine(&resolver.ClientDiscoveryResolver{Discovery: client}),
		RestMapper:     restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client)),
	}
	decoder, encoder := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	for decoder.More() {
		var one line
		var policy v1.ValidatingAdmissionPolicy
		check(decoder.Decode(&one))
		check(json.Unmarshal(one.Spec, &policy.Spec))
		one.Warnings = [][2]string{}
		for _, warning := range checker.Check(&policy) {
			one.Warnings = append(one.Warnings, [2]string{warning.FieldRef, number.ReplaceAllString(warning.Warning, "${1}0")})
		}
		check(encoder.Encode(one))
	}
}
