// Package crdxtest runs a simulated Kubernetes API server in the process of a test: no program, no port, no files.
//
//	config := crdxtest.New(t, crdxtest.CRDs("config/crd"))
//	c, err := client.New(config, client.Options{})
//
// Every test has a server of its own, and tests may run in parallel. Kubernetes' controllers do not run, as in envtest.
package crdxtest

import (
	"math/rand/v2"
	"testing"

	"k8s.io/client-go/rest"
)

// Option is an option of New.
type Option func(*options)

type options struct {
	version      string
	paths        []string
	services     map[string]string
	certificates bool
}

// Version sets the Kubernetes version, such as "1.37"; the default is the newest.
func Version(version string) Option {
	return func(o *options) { o.version = version }
}

// CRDs creates the CustomResourceDefinitions in these files and directories. Other objects there are ignored, as envtest does.
func CRDs(paths ...string) Option {
	return func(o *options) { o.paths = append(o.paths, paths...) }
}

// WebhookService gives the address of a Service that webhook configurations name, such as "127.0.0.1:9443". The certificate there is
// that of NAME.NAMESPACE.svc. envtest replaces the Services of its WebhookInstallOptions itself.
func WebhookService(namespace, name, address string) Option {
	return func(o *options) {
		if o.services == nil {
			o.services = map[string]string{}
		}
		o.services[name+"."+namespace+".svc"] = address
	}
}

// ClientCertificates makes the client certificate of a configuration the user of its requests: the common name is the name, and the
// organizations are the groups. The certificate may be of any authority. client-go refuses TLS settings beside the Transport that a
// configuration has without this option; with it, the server is in WrapTransport, so add to it with the method Wrap.
func ClientCertificates() Option {
	return func(o *options) { o.certificates = true }
}

// New starts a server, which ends with the test, and returns the configuration of its clients. Webhooks that a test registers with
// URLs, as envtest.WebhookInstallOptions does, are called. With this configuration, envtest.Environment installs CRDs and webhooks
// itself:
//
//	&envtest.Environment{UseExistingCluster: ptr.To(true), Config: crdxtest.New(t), CRDDirectoryPaths: …}
func New(t testing.TB, given ...Option) *rest.Config {
	t.Helper()
	config, stop, err := Start(given...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return config
}

// Start is New for a suite: it returns a function that stops the server.
func Start(given ...Option) (config *rest.Config, stop func(), err error) {
	var o options
	for _, option := range given {
		option(&o)
	}
	e, err := start(o)
	if err != nil {
		return nil, nil, err
	}
	config = &rest.Config{Host: "http://crdx.local", QPS: -1}
	if o.certificates {
		config.WrapTransport = e.wrap
	} else {
		config.Transport = &transport{engine: e}
	}
	return config, e.close, nil
}

// start starts a server as a copy of one with the same settings and CRDs.
func start(o options) (*engine, error) {
	crds, err := readManifests(o.paths)
	if err != nil {
		return nil, err
	}
	image, err := imageOf(settings{KubernetesVersion: o.version}, crds)
	if err != nil {
		return nil, err
	}
	instance, err := image.copy()
	if err != nil {
		return nil, err
	}
	e := newEngine(instance, o.services)
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return e, e.exchange(seed{rand.Int64()}, nil)
}
