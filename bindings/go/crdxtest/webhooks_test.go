package crdxtest_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/OWNER/kubectl-crdx/bindings/go/crdxtest"
	"gomodules.xyz/jsonpatch/v2"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

func ptr[T any](value T) *T { return &value }

// serveWebhooks starts a webhook server as a manager does, and returns a client of an API server that calls it.
func serveWebhooks(t *testing.T, options envtest.WebhookInstallOptions, handlers map[string]http.Handler) client.Client {
	t.Helper()
	environment := &envtest.Environment{
		UseExistingCluster:    ptr(true),
		Config:                crdxtest.New(t),
		CRDDirectoryPaths:     []string{crds},
		WebhookInstallOptions: options,
	}
	config, err := environment.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = environment.Stop() })
	own := environment.WebhookInstallOptions
	server := webhook.NewServer(webhook.Options{Host: own.LocalServingHost, Port: own.LocalServingPort, CertDir: own.LocalServingCertDir})
	for path, handler := range handlers {
		server.Register(path, handler)
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	go func() { _ = server.Start(ctx) }()
	eventually(t, func() error { return server.StartedChecker()(nil) })
	return newClient(t, config)
}

func rule(resource string) []admissionv1.RuleWithOperations {
	return []admissionv1.RuleWithOperations{{
		Operations: []admissionv1.OperationType{admissionv1.Create},
		Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{resource}},
	}}
}

// The service of a webhook, which envtest replaces with the address of the test process.
func service(path string) admissionv1.WebhookClientConfig {
	return admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{Namespace: "default", Name: "w", Path: &path}}
}

func TestWebhooksOfTheTestProcessAreCalled(t *testing.T) {
	t.Parallel()
	none := admissionv1.SideEffectClassNone
	options := envtest.WebhookInstallOptions{
		MutatingWebhooks: []*admissionv1.MutatingWebhookConfiguration{{
			ObjectMeta: metav1.ObjectMeta{Name: "m"},
			Webhooks: []admissionv1.MutatingWebhook{{
				Name: "m.example.com", Rules: rule("configmaps"), ClientConfig: service("/mutate"), SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
			}},
		}},
		ValidatingWebhooks: []*admissionv1.ValidatingWebhookConfiguration{{
			ObjectMeta: metav1.ObjectMeta{Name: "v"},
			Webhooks: []admissionv1.ValidatingWebhook{{
				Name: "v.example.com", Rules: rule("configmaps"), ClientConfig: service("/validate"), SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
			}},
		}},
	}
	c := serveWebhooks(t, options, map[string]http.Handler{
		"/mutate": &admission.Webhook{Handler: admission.HandlerFunc(func(context.Context, admission.Request) admission.Response {
			return admission.Patched("", jsonpatch.NewOperation("add", "/data", map[string]string{"set": "by the webhook"}))
		})},
		"/validate": &admission.Webhook{Handler: admission.HandlerFunc(func(_ context.Context, request admission.Request) admission.Response {
			if request.Name == "bad" {
				return admission.Denied("the name is bad")
			}
			return admission.Allowed("")
		})},
	})
	good := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "good"}}
	if err := c.Create(context.Background(), good); err != nil || good.Data["set"] != "by the webhook" {
		t.Error(err, good.Data)
	}
	bad := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "bad"}}
	if err := c.Create(context.Background(), bad); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `"v.example.com" denied the request: the name is bad`) {
		t.Error(err)
	}
	if err := c.Create(context.Background(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "bad"}}); err != nil {
		t.Error(err)
	}
}

func TestAWebhookThatCannotBeReachedFailsTheRequest(t *testing.T) {
	t.Parallel()
	c := newClient(t, crdxtest.New(t))
	if err := c.Create(context.Background(), reviewedBy("https://127.0.0.1:1/validate", nil)); err != nil {
		t.Fatal(err)
	}
	err := c.Create(context.Background(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}})
	want := `failed calling webhook "v.example.com": failed to call webhook: Post "https://127.0.0.1:1/validate?timeout=10s": dial tcp 127.0.0.1:1: connect: connection refused`
	if !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), want) {
		t.Error(err)
	}
}

func TestTheImpersonatedUserSendsTheRequest(t *testing.T) {
	t.Parallel()
	config := crdxtest.New(t)
	config.Impersonate = rest.ImpersonationConfig{UserName: "jane", UID: "7", Groups: []string{"dev"}, Extra: map[string][]string{"example.com/team": {"a"}}}
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	review, err := clients.AuthenticationV1().SelfSubjectReviews().Create(context.Background(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	user := review.Status.UserInfo
	if user.Username != "jane" || user.UID != "7" || fmt.Sprint(user.Groups) != "[dev system:authenticated]" || fmt.Sprint(user.Extra) != "map[example.com/team:[a]]" {
		t.Errorf("%+v", user)
	}
}

func TestTheTokenOfAServiceAccountIsItsUser(t *testing.T) {
	t.Parallel()
	config, ctx := crdxtest.New(t), context.Background()
	clients := kubernetes.NewForConfigOrDie(config)
	accounts := clients.CoreV1().ServiceAccounts("default")
	if _, err := accounts.Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	issued, err := accounts.CreateToken(ctx, "robot", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	config.BearerToken = issued.Status.Token
	review, err := kubernetes.NewForConfigOrDie(config).AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil || review.Status.UserInfo.Username != "system:serviceaccount:default:robot" {
		t.Error(err, review)
	}
	config.BearerToken = "other"
	if _, err := kubernetes.NewForConfigOrDie(config).Discovery().ServerVersion(); !apierrors.IsUnauthorized(err) {
		t.Error(err)
	}
}

func TestServersWithTheSameCRDsAreIndependent(t *testing.T) {
	t.Parallel()
	uids := map[string]bool{}
	for range 3 {
		c := newClient(t, crdxtest.New(t, crdxtest.CRDs(crds)))
		role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{GenerateName: "r-"}}
		if err := c.Create(context.Background(), role); err != nil {
			t.Fatal(err)
		}
		uids[string(role.UID)+role.Name] = true
		list := &rbacv1.ClusterRoleList{}
		if err := c.List(context.Background(), list); err != nil || len(list.Items) != 1 {
			t.Error(err, list.Items)
		}
	}
	if len(uids) != 3 {
		t.Error(uids)
	}
}

func TestAServerEndsWithItsTest(t *testing.T) {
	t.Parallel()
	config, stop, err := crdxtest.Start()
	if err != nil {
		t.Fatal(err)
	}
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	watch, err := clients.CoreV1().ConfigMaps("default").Watch(context.Background(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	stop()
	for range watch.ResultChan() {
	}
	if _, err := clients.Discovery().ServerVersion(); err == nil || !strings.Contains(err.Error(), "ended with its test") {
		t.Error(err)
	}
}
