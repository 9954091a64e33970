package crdxtest_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/OWNER/kubectl-crdx/bindings/go/crdxtest"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// newCertificate returns a certificate and its key in PEM.
func newCertificate(t *testing.T, subject pkix.Name) (certificate, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: subject, NotAfter: time.Now().Add(time.Hour)}
	certificate, err = x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	key, err = x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate}), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: key})
}

// whoAmI returns the name and the groups of the user of a configuration.
func whoAmI(config *rest.Config) (string, error) {
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return "", err
	}
	review, err := clients.AuthenticationV1().SelfSubjectReviews().Create(context.Background(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return fmt.Sprint(review.Status.UserInfo.Username, review.Status.UserInfo.Groups), nil
}

func TestTheSubjectOfAClientCertificateIsTheUser(t *testing.T) {
	t.Parallel()
	config := crdxtest.New(t, crdxtest.ClientCertificates())
	certificate, key := newCertificate(t, pkix.Name{CommonName: "jane", Organization: []string{"dev", "ops"}})
	jane := rest.CopyConfig(config)
	jane.CertData, jane.KeyData = certificate, key
	// The token would be refused, but a certificate precedes it.
	withToken := rest.CopyConfig(jane)
	withToken.BearerToken = "other"
	inFiles := rest.CopyConfig(config)
	inFiles.CertFile, inFiles.KeyFile = filepath.Join(t.TempDir(), "crt"), filepath.Join(t.TempDir(), "key")
	for file, text := range map[string][]byte{inFiles.CertFile: certificate, inFiles.KeyFile: key} {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	impersonating := rest.CopyConfig(jane)
	impersonating.Impersonate.UserName = "joe"
	for name, one := range map[string]struct {
		config *rest.Config
		user   string
	}{
		"data":          {jane, "jane[dev ops system:authenticated]"},
		"with a token":  {withToken, "jane[dev ops system:authenticated]"},
		"files":         {inFiles, "jane[dev ops system:authenticated]"},
		"impersonation": {impersonating, "joe[system:authenticated]"},
	} {
		if user, err := whoAmI(one.config); err != nil || user != one.user {
			t.Errorf("%s: %s, %v", name, user, err)
		}
	}
	own, err := whoAmI(crdxtest.New(t))
	if err != nil {
		t.Fatal(err)
	}
	if user, err := whoAmI(config); err != nil || user != own {
		t.Errorf("without a certificate: %s instead of %s, %v", user, own, err)
	}
}

func TestACertificateThatCannotBeUsedIsAnError(t *testing.T) {
	t.Parallel()
	certificate, key := newCertificate(t, pkix.Name{Organization: []string{"dev"}})
	for _, one := range []struct {
		config *rest.Config
		want   string
	}{
		{crdxtest.New(t, crdxtest.ClientCertificates()), "the client certificate names no user: its subject has no common name"},
		{crdxtest.New(t), "using a custom transport with TLS certificate options or the insecure flag is not allowed"},
	} {
		one.config.CertData, one.config.KeyData = certificate, key
		if user, err := whoAmI(one.config); err == nil || !strings.Contains(err.Error(), one.want) {
			t.Error(user, err)
		}
	}
}
