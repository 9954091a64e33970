// Command webhooks is a webhook server of controller-runtime for a CRD with two versions, and a client that checks that
// `kubectl-crdx serve --admission` calls it for admission and conversion.
//
// usage: webhooks URL
package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/conversion"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	webhookconversion "sigs.k8s.io/controller-runtime/pkg/webhook/conversion"
)

// Kite is version v1, the hub: its length is in metres.
type Kite struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              struct {
		Length int64 `json:"length"`
	} `json:"spec"`
}

// KiteV2 is version v2: its length is in centimetres.
type KiteV2 struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              struct {
		Centimetres int64 `json:"centimetres"`
	} `json:"spec"`
}

func (k *Kite) Hub() {}

func (k *Kite) DeepCopyObject() runtime.Object {
	out := *k
	k.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return &out
}

func (k *KiteV2) DeepCopyObject() runtime.Object {
	out := *k
	k.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return &out
}

func (k *KiteV2) ConvertTo(hub conversion.Hub) error {
	out := hub.(*Kite)
	out.ObjectMeta = k.ObjectMeta
	out.Spec.Length = k.Spec.Centimetres / 100
	return nil
}

func (k *KiteV2) ConvertFrom(hub conversion.Hub) error {
	in := hub.(*Kite)
	if in.Spec.Length == 13 {
		return fmt.Errorf("13 is not a length")
	}
	k.ObjectMeta = in.ObjectMeta
	k.Spec.Centimetres = in.Spec.Length * 100
	return nil
}

const group = "hooks.example.com"

var (
	crds = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	v1   = schema.GroupVersionResource{Group: group, Version: "v1", Resource: "kites"}
	v2   = schema.GroupVersionResource{Group: group, Version: "v2", Resource: "kites"}
)

type object = map[string]any

func must[T any](v T, err error) T {
	if err != nil {
		fmt.Println("FAILED:", err)
		os.Exit(1)
	}
	return v
}

func expect(what string, ok bool) {
	if !ok {
		fmt.Println("FAILED:", what)
		os.Exit(1)
	}
	fmt.Println("ok:", what)
}

// certificate writes a self-signed certificate for 127.0.0.1 and returns it as PEM.
func certificate(directory string) []byte {
	key := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "webhooks"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	der := must(x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key))
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	private := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: must(x509.MarshalECPrivateKey(key))})
	must(0, os.WriteFile(filepath.Join(directory, "tls.crt"), text, 0o600))
	must(0, os.WriteFile(filepath.Join(directory, "tls.key"), private, 0o600))
	return text
}

func mutate(_ context.Context, request admission.Request) admission.Response {
	var kite unstructured.Unstructured
	if err := kite.UnmarshalJSON(request.Object.Raw); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	kite.SetLabels(map[string]string{"mutated": "true"})
	return admission.PatchResponseFromRaw(request.Object.Raw, must(json.Marshal(&kite)))
}

func validate(_ context.Context, request admission.Request) admission.Response {
	if strings.HasPrefix(request.Name, "bad") {
		return admission.Denied("bad kites do not fly").WithWarnings("mind the wind")
	}
	return admission.Allowed("")
}

func configuration(kind, name, url string, ca []byte) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: object{
		"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": object{"name": name},
		"webhooks": []any{object{"name": name + "." + group, "sideEffects": "None", "admissionReviewVersions": []any{"v1"},
			"clientConfig": object{"url": url, "caBundle": base64.StdEncoding.EncodeToString(ca)},
			"rules": []any{object{"operations": []any{"CREATE", "UPDATE"}, "apiGroups": []any{group}, "apiVersions": []any{"v1"},
				"resources": []any{"kites"}}}}},
	}}
}

func definition(url string, ca []byte) *unstructured.Unstructured {
	version := func(name, field string) object {
		return object{"name": name, "served": true, "storage": name == "v1", "schema": object{"openAPIV3Schema": object{
			"type": "object", "properties": object{"spec": object{"type": "object", "properties": object{field: object{"type": "integer"}}}}}}}
	}
	return &unstructured.Unstructured{Object: object{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": object{"name": "kites." + group},
		"spec": object{"group": group, "scope": "Namespaced", "names": object{"plural": "kites", "kind": "Kite"},
			"versions": []any{version("v1", "length"), version("v2", "centimetres")},
			"conversion": object{"strategy": "Webhook", "webhook": object{"conversionReviewVersions": []any{"v1"},
				"clientConfig": object{"url": url, "caBundle": base64.StdEncoding.EncodeToString(ca)}}}},
	}}
}

func kite(version, name, field string, value int64) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: object{"apiVersion": group + "/" + version, "kind": "Kite",
		"metadata": object{"name": name}, "spec": object{field: value}}}
}

func main() {
	ctx := ctrl.SetupSignalHandler()
	directory := must(os.MkdirTemp("", "webhooks"))
	defer os.RemoveAll(directory)
	ca := certificate(directory)
	listener := must(net.Listen("tcp", "127.0.0.1:0"))
	port := listener.Addr().(*net.TCPAddr).Port
	listener.Close()
	scheme := runtime.NewScheme()
	scheme.AddKnownTypeWithName(schema.GroupVersionKind{Group: group, Version: "v1", Kind: "Kite"}, &Kite{})
	scheme.AddKnownTypeWithName(schema.GroupVersionKind{Group: group, Version: "v2", Kind: "Kite"}, &KiteV2{})
	server := webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: port, CertDir: directory})
	server.Register("/mutate", &admission.Webhook{Handler: admission.HandlerFunc(mutate)})
	server.Register("/validate", &admission.Webhook{Handler: admission.HandlerFunc(validate)})
	server.Register("/convert", webhookconversion.NewWebhookHandler(scheme, webhookconversion.NewRegistry()))
	go func() { must(0, server.Start(ctx)) }()
	base := fmt.Sprintf("https://127.0.0.1:%d", port)

	client := must(dynamic.NewForConfig(&rest.Config{Host: os.Args[1]}))
	kites, others := client.Resource(v1).Namespace("default"), client.Resource(v2).Namespace("default")
	must(client.Resource(crds).Create(ctx, definition(base+"/convert", ca), metav1.CreateOptions{}))
	for i := 0; i < 100; i++ {
		if _, err := kites.List(ctx, metav1.ListOptions{}); err == nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	hooks := schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1"}
	for _, hook := range []struct{ kind, resource, name string }{
		{"MutatingWebhookConfiguration", "mutatingwebhookconfigurations", "mutate"},
		{"ValidatingWebhookConfiguration", "validatingwebhookconfigurations", "validate"},
	} {
		hooks.Resource = hook.resource
		must(client.Resource(hooks).Create(ctx, configuration(hook.kind, hook.name, base+"/"+hook.name, ca), metav1.CreateOptions{}))
	}

	made := must(kites.Create(ctx, kite("v1", "a", "length", 3), metav1.CreateOptions{}))
	expect("a mutating webhook changes what is created", made.GetLabels()["mutated"] == "true")
	_, err := kites.Create(ctx, kite("v1", "bad", "length", 3), metav1.CreateOptions{})
	expect("a validating webhook denies", err != nil && err.Error() == `admission webhook "validate.hooks.example.com" denied the request: bad kites do not fly`)
	length := func(object *unstructured.Unstructured, field string) int64 {
		value, _, _ := unstructured.NestedInt64(object.Object, "spec", field)
		return value
	}
	expect("v2 is converted", length(must(others.Get(ctx, "a", metav1.GetOptions{})), "centimetres") == 300)
	made = must(others.Create(ctx, kite("v2", "b", "centimetres", 500), metav1.CreateOptions{}))
	expect("what is created as v2 is stored as v1", length(made, "centimetres") == 500 && made.GetLabels()["mutated"] == "true" &&
		length(must(kites.Get(ctx, "b", metav1.GetOptions{})), "length") == 5)
	patched := must(others.Patch(ctx, "a", types.MergePatchType, []byte(`{"spec":{"centimetres":700}}`), metav1.PatchOptions{}))
	expect("what is patched as v2 is stored as v1", length(patched, "centimetres") == 700 &&
		length(must(kites.Get(ctx, "a", metav1.GetOptions{})), "length") == 7)
	list := must(others.List(ctx, metav1.ListOptions{}))
	expect("a list is converted", len(list.Items) == 2 && length(&list.Items[0], "centimetres") == 700)
	watch := must(others.Watch(ctx, metav1.ListOptions{ResourceVersion: list.GetResourceVersion()}))
	must(kites.Create(ctx, kite("v1", "c", "length", 9), metav1.CreateOptions{}))
	event := <-watch.ResultChan()
	expect("a watch is converted", length(event.Object.(*unstructured.Unstructured), "centimetres") == 900)
	watch.Stop()
	must(kites.Create(ctx, kite("v1", "unlucky", "length", 13), metav1.CreateOptions{}))
	_, err = others.Get(ctx, "unlucky", metav1.GetOptions{})
	expect("a conversion that fails is an error of the server",
		err != nil && strings.Contains(err.Error(), "conversion webhook for hooks.example.com/v1, Kind=Kite failed: "))
}
