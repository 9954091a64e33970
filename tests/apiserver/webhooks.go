package main

// Admission webhooks, active with -webhooks only. The MutatingAdmissionWebhook and ValidatingAdmissionWebhook plugins are those of
// k8s.io/apiserver. Their configurations live in a fake clientset, which webhookStore fills over HTTP: POST creates, DELETE removes;
// they are defaulted but not validated. The only namespace is "default".

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	webhookinit "k8s.io/apiserver/pkg/admission/plugin/webhook/initializer"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/mutating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/validating"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/util/feature"
	"k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
)

type webhookStore struct{ client *fake.Clientset }

// plainCalls sends no credentials to webhooks.
type plainCalls struct{}

func (plainCalls) ClientConfigFor(string) (*rest.Config, error) { return &rest.Config{}, nil }
func (plainCalls) ClientConfigForService(_, _ string, _ int) (*rest.Config, error) {
	return &rest.Config{}, nil
}

// enableWebhooks puts both webhook plugins into the server's admission chain.
func enableWebhooks(ctx context.Context, config *genericapiserver.Config) *webhookStore {
	s := &webhookStore{fake.NewClientset(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: metav1.NamespaceDefault, Labels: map[string]string{corev1.LabelMetadataName: metav1.NamespaceDefault}}})}
	factory := informers.NewSharedInformerFactory(s.client, 0)
	plugins := admission.NewPlugins()
	mutating.Register(plugins)
	validating.Register(plugins)
	names := []string{mutating.PluginName, validating.PluginName}
	resolve := func(webhook.AuthenticationInfoResolver) webhook.AuthenticationInfoResolver { return plainCalls{} }
	config.AdmissionControl = must(plugins.NewFromPlugins(names, must(admission.ReadAdmissionConfiguration(names, "", nil)), admission.PluginInitializers{
		webhookinit.NewPluginInitializer(resolve, webhook.NewDefaultServiceResolver()),
		initializer.New(s.client, nil, factory, authorizerfactory.NewAlwaysAllowAuthorizer(), feature.DefaultFeatureGate,
			config.EffectiveVersion, ctx.Done(), nil)}, nil))
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	return s
}

// handler creates and deletes configurations, and passes everything else on.
func (s *webhookStore) handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, ok := strings.CutPrefix(r.URL.Path, "/apis/"+admissionv1.SchemeGroupVersion.String()+"/")
		if !ok {
			next.ServeHTTP(w, r)
			return
		}
		resource, name, _ := strings.Cut(path, "/")
		if err := s.write(r, admissionv1.SchemeGroupVersion.WithResource(resource), name); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		time.Sleep(200 * time.Millisecond) // the plugins watch the configurations
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodPost {
			w.WriteHeader(http.StatusCreated)
		}
		fmt.Fprint(w, "{}")
	})
}

func (s *webhookStore) write(r *http.Request, resource schema.GroupVersionResource, name string) error {
	if r.Method == http.MethodDelete {
		return s.client.Tracker().Delete(resource, "", name)
	}
	var configuration runtime.Object
	switch resource.Resource {
	case "mutatingwebhookconfigurations":
		c := &admissionv1.MutatingWebhookConfiguration{}
		if err := json.NewDecoder(r.Body).Decode(c); err != nil {
			return err
		}
		for i := range c.Webhooks {
			h := &c.Webhooks[i]
			setDefault(&h.ReinvocationPolicy, admissionv1.NeverReinvocationPolicy)
			applyWebhookDefaults(&h.FailurePolicy, &h.MatchPolicy, &h.NamespaceSelector, &h.ObjectSelector, &h.TimeoutSeconds, h.ClientConfig, h.Rules)
		}
		configuration = c
	case "validatingwebhookconfigurations":
		c := &admissionv1.ValidatingWebhookConfiguration{}
		if err := json.NewDecoder(r.Body).Decode(c); err != nil {
			return err
		}
		for i := range c.Webhooks {
			h := &c.Webhooks[i]
			applyWebhookDefaults(&h.FailurePolicy, &h.MatchPolicy, &h.NamespaceSelector, &h.ObjectSelector, &h.TimeoutSeconds, h.ClientConfig, h.Rules)
		}
		configuration = c
	default:
		return fmt.Errorf("no such resource: %s", resource.Resource)
	}
	return s.client.Tracker().Create(resource, configuration, "")
}

func applyWebhookDefaults(failure **admissionv1.FailurePolicyType, match **admissionv1.MatchPolicyType, namespaces, objects **metav1.LabelSelector,
	timeout **int32, client admissionv1.WebhookClientConfig, rules []admissionv1.RuleWithOperations) {
	setDefault(failure, admissionv1.Fail)
	setDefault(match, admissionv1.Equivalent)
	setDefault(namespaces, metav1.LabelSelector{})
	setDefault(objects, metav1.LabelSelector{})
	setDefault(timeout, 10)
	if client.Service != nil {
		setDefault(&client.Service.Port, 443)
	}
	for i := range rules {
		setDefault(&rules[i].Scope, admissionv1.AllScopes)
	}
}

func setDefault[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}
