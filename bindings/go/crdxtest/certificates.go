package crdxtest

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"

	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// certificateSource returns the certificate of a client as it is now, because client-go reads files again. A certificate without bytes is
// none.
type certificateSource func() (*tls.Certificate, error)

// wrap returns a transport to the server for the client certificate of client-go's transport.
func (e *engine) wrap(base http.RoundTripper) http.RoundTripper {
	if own, wrapped := base.(*transport); wrapped {
		return own
	}
	t := &transport{engine: e}
	config, err := utilnet.TLSClientConfig(base)
	switch {
	case err != nil:
		t.certificate = func() (*tls.Certificate, error) { return nil, err }
	case config != nil && config.GetClientCertificate != nil:
		t.certificate = func() (*tls.Certificate, error) { return config.GetClientCertificate(&tls.CertificateRequestInfo{}) }
	}
	return t
}

// user returns the user of the certificate as headers of impersonation; nil without a certificate.
// It follows CommonNameUserConversion of k8s.io/apiserver.
func (source certificateSource) user() ([][2]string, error) {
	if source == nil {
		return nil, nil
	}
	own, err := source()
	if err != nil || len(own.Certificate) == 0 {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(own.Certificate[0])
	if err != nil {
		return nil, err
	}
	if certificate.Subject.CommonName == "" {
		return nil, errors.New("the client certificate names no user: its subject has no common name")
	}
	user := [][2]string{{"Impersonate-User", certificate.Subject.CommonName}}
	for _, group := range certificate.Subject.Organization {
		user = append(user, [2]string{"Impersonate-Group", group})
	}
	return user, nil
}
