// Package users lets AddUser of envtest.Environment add users to a server of crdxtest.
//
//	environment := &envtest.Environment{UseExistingCluster: ptr.To(true), Config: crdxtest.New(t)}
//	err := users.Enable(environment)
//	…
//	jane, err := environment.AddUser(envtest.User{Name: "jane", Groups: []string{"dev"}}, nil)
//	c, err := client.New(jane.Config(), client.Options{})
package users

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"net/http"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// Enable lets environment.AddUser add users to the server of environment.Config. AddUser works before and after the start of the
// environment; the permissions of RBAC are not checked. A kubeconfig or a kubectl of a user leads nowhere, because the server has no port.
func Enable(environment *envtest.Environment) error {
	if environment.Config == nil {
		return errors.New("the environment has no configuration: set Config to that of crdxtest.New")
	}
	authority, err := newAuthority()
	if err != nil {
		return err
	}
	serving := &environment.ControlPlane.GetAPIServer().SecureServing
	serving.Authn = authentication{environment.Config}
	// envtest writes both into the configurations of users. They have no effect: nothing is sent over a network.
	serving.ListenAddr = envtest.ListenAddr{Address: "crdx.local", Port: "443"}
	serving.CA = authority
	return nil
}

// newAuthority returns a certificate in PEM, without which client-go refuses a configuration.
func newAuthority() ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	certificate, err := cert.NewSelfSignedCACert(cert.Config{CommonName: "crdx.local"}, key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: cert.CertificateBlockType, Bytes: certificate.Raw}), nil
}

// authentication makes configurations of users whose server is that of a configuration.
type authentication struct {
	server *rest.Config
}

func (a authentication) Configure(string, *envtest.Arguments) error { return nil }

func (a authentication) Start() error { return nil }

func (a authentication) Stop() error { return nil }

func (a authentication) AddUser(user envtest.User, base *rest.Config) (*rest.Config, error) {
	if user.Name == "" {
		return nil, errors.New("the user has no name")
	}
	if a.server.Transport == nil && a.server.WrapTransport == nil {
		return nil, errors.New("the configuration is not that of a server in this process: give the one of crdxtest.New")
	}
	config := rest.CopyConfig(base)
	// client-go allows the authority that envtest adds only without a Transport.
	config.Transport = nil
	config.WrapTransport = transport.Wrappers(a.connect, base.WrapTransport)
	config.Impersonate = rest.ImpersonationConfig{UserName: user.Name, Groups: user.Groups}
	return config, nil
}

// connect replaces the transport of client-go by that to the server.
func (a authentication) connect(base http.RoundTripper) http.RoundTripper {
	if a.server.Transport != nil {
		return a.server.Transport
	}
	return a.server.WrapTransport(base)
}
