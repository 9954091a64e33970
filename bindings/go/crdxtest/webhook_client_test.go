package crdxtest_test

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/OWNER/kubectl-crdx/bindings/go/crdxtest"
	admissionreview "k8s.io/api/admission/v1"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// allow answers a review; a request without one is answered with 418.
func allow(w http.ResponseWriter, r *http.Request) {
	var review admissionreview.AdmissionReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		w.WriteHeader(http.StatusTeapot)
		return
	}
	review.Response = &admissionreview.AdmissionResponse{UID: review.Request.UID, Allowed: true}
	review.Request = nil
	_ = json.NewEncoder(w).Encode(review)
}

// redirect answers with a status and a location.
func redirect(code int, location string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if location != "" {
			w.Header().Set("Location", location)
		}
		w.WriteHeader(code)
	}
}

// overloaded asks for a number of repetitions, and then allows the request.
func overloaded(repetitions int64, code int, after string) http.HandlerFunc {
	var calls atomic.Int64
	return func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1) <= repetitions {
			w.Header().Set("Retry-After", after)
			w.WriteHeader(code)
			return
		}
		allow(w, r)
	}
}

// startHook starts a webhook with TLS, and returns its URL and its certificate.
func startHook(t *testing.T, handlers map[string]http.Handler) (url string, bundle []byte) {
	t.Helper()
	mux := http.NewServeMux()
	for path, handler := range handlers {
		mux.Handle(path, handler)
	}
	hook := httptest.NewTLSServer(mux)
	t.Cleanup(hook.Close)
	return hook.URL, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: hook.Certificate().Raw})
}

// reviewedBy returns a configuration with which a webhook reviews ConfigMaps.
func reviewedBy(url string, bundle []byte) *admissionv1.ValidatingWebhookConfiguration {
	return &admissionv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "v"},
		Webhooks: []admissionv1.ValidatingWebhook{{
			Name: "v.example.com", Rules: rule("configmaps"), SideEffects: ptr(admissionv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
			ClientConfig: admissionv1.WebhookClientConfig{URL: &url, CABundle: bundle},
		}},
	}
}

// failure returns the error of a create that a webhook reviews, after "failed to call webhook: ".
func failure(t *testing.T, c client.Client, name, url string, bundle []byte, delay time.Duration) string {
	t.Helper()
	labels := map[string]string{"test": name}
	configuration := reviewedBy(url, bundle)
	configuration.Name = name
	configuration.Webhooks[0].TimeoutSeconds = ptr[int32](2)
	configuration.Webhooks[0].NamespaceSelector = &metav1.LabelSelector{MatchLabels: labels}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
	for _, object := range []client.Object{configuration, namespace} {
		if err := c.Create(context.Background(), object); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(delay)
	err := c.Create(context.Background(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "a"}})
	if err == nil {
		return ""
	}
	before := `Internal error occurred: failed calling webhook "v.example.com": failed to call webhook: `
	message, found := strings.CutPrefix(err.Error(), before)
	if !found {
		t.Error(err)
	}
	return message
}

// With KUBEBUILDER_ASSETS, the real server is asked; kube-apiserver 1.38.0-beta.0 gives these answers.
func TestWebhooksAreCalledAsByTheAPIServer(t *testing.T) {
	t.Parallel()
	config, delay := crdxtest.New(t), time.Duration(0)
	if os.Getenv("KUBEBUILDER_ASSETS") != "" {
		environment := &envtest.Environment{}
		var err error
		if config, err = environment.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = environment.Stop() })
		// The server reads its webhooks with an informer.
		delay = time.Second
	}
	c := newClient(t, config)
	plain := httptest.NewServer(http.HandlerFunc(allow))
	t.Cleanup(plain.Close)
	teapot := "the server responded with the status code 418 but did not return more information"
	handlers := map[string]http.Handler{"/allow": http.HandlerFunc(allow)}
	expected := map[string]string{}
	for _, test := range []struct {
		path    string
		handler http.HandlerFunc
		failure string
	}{
		{"301", redirect(301, "/allow"), teapot},
		{"302", redirect(302, "/allow"), teapot},
		{"303", redirect(303, "/allow"), teapot},
		{"307", redirect(307, "/allow"), ""},
		{"308", redirect(308, "allow"), ""},
		{"304", redirect(304, "/allow"), "the server responded with the status code 304 but did not return more information"},
		{"without-location", redirect(307, ""), "the server responded with the status code 307 but did not return more information"},
		{"to-http", redirect(307, plain.URL), ""},
		{"to-no-server", redirect(307, "https://127.0.0.1:1/x"), `Post "https://127.0.0.1:1/x": dial tcp 127.0.0.1:1: connect: connection refused`},
		{"to-ftp", redirect(307, "ftp://a/b"), `Post "ftp://a/b": unsupported protocol scheme "ftp"`},
		{"loop", redirect(307, "/loop"), `Post "/loop": stopped after 10 redirects`},
		{"twice", overloaded(2, 503, "0"), ""},
		{"slowly", overloaded(1, 429, "1"), ""},
		{"too-often", overloaded(11, 500, "0"), `an error on the server ("") has prevented the request from succeeding`},
		{"too-slowly", overloaded(9, 503, "1"), `Post "HOOK/too-slowly?timeout=2s": context deadline exceeded`},
		{"at-a-time", overloaded(1, 503, "Fri, 31 Dec 1999 23:59:59 GMT"), "the server is currently unable to handle the request"},
		{"short", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte("{}"))
		}, "unexpected error when reading response body. Please retry. Original error: unexpected EOF"},
	} {
		handlers["/"+test.path] = test.handler
		expected[test.path] = test.failure
	}
	url, bundle := startHook(t, handlers)
	for path, want := range expected {
		got := failure(t, c, path, url+"/"+path, bundle, delay)
		if got := strings.ReplaceAll(got, url, "HOOK"); got != want {
			t.Errorf("%s: %q instead of %q", path, got, want)
		}
	}
}

func TestTheResponseOfAWebhookHasALimit(t *testing.T) {
	t.Parallel()
	url, bundle := startHook(t, map[string]http.Handler{"/long": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(strings.Repeat(" ", 16<<20+1)))
	})})
	want := "unexpected error when reading response body. Please retry. Original error: the response is longer than 16777216 bytes"
	if got := failure(t, newClient(t, crdxtest.New(t)), "a", url+"/long", bundle, 0); got != want {
		t.Error(got)
	}
}

func TestACallOfAWebhookEndsWithTheServer(t *testing.T) {
	t.Parallel()
	called, ended := make(chan struct{}), make(chan struct{})
	url, bundle := startHook(t, map[string]http.Handler{"/": http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		close(called)
		<-r.Context().Done()
		close(ended)
	})})
	config, stop, err := crdxtest.Start()
	if err != nil {
		t.Fatal(err)
	}
	go func() { <-called; stop() }()
	c := newClient(t, config)
	if err := c.Create(context.Background(), reviewedBy(url, bundle)); err != nil {
		t.Fatal(err)
	}
	err = c.Create(context.Background(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}})
	if err == nil || !strings.Contains(err.Error(), "ended with its test") {
		t.Error(err)
	}
	<-ended
}

func TestAServiceIsCalledAtItsAddress(t *testing.T) {
	t.Parallel()
	url, bundle := startHook(t, map[string]http.Handler{"/validate": http.HandlerFunc(allow)})
	c := newClient(t, crdxtest.New(t, crdxtest.WebhookService("default", "w", strings.TrimPrefix(url, "https://"))))
	configuration := reviewedBy("", bundle)
	configuration.Webhooks[0].ClientConfig = service("/validate")
	configuration.Webhooks[0].ClientConfig.CABundle = bundle
	if err := c.Create(context.Background(), configuration); err != nil {
		t.Fatal(err)
	}
	err := c.Create(context.Background(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}})
	// The certificate of httptest is that of example.com.
	if err == nil || !strings.Contains(err.Error(), ", not w.default.svc") {
		t.Error(err)
	}
}
