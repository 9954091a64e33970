package crdxtest

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// The maximum length of the answer of a webhook.
const maxAnswer = 16 << 20

// webhookClients are the HTTP clients of webhooks, by the certificate authorities that they trust.
type webhookClients struct {
	mutex sync.Mutex
	by    map[string]*http.Client
}

// call makes a call, and returns the frame with its outcome.
func (c *webhookClients) call(h header, review []byte) (header, []byte) {
	outcome := header{ID: h.ID, Call: h.Call}
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(h.TimeoutMilliseconds)*time.Millisecond)
	defer cancel()
	response, body, err := c.post(ctx, h, review)
	if err != nil {
		// The server reports the URL itself.
		var failed *url.Error
		if errors.As(err, &failed) {
			err = failed.Err
		}
		outcome.Error = err.Error()
		return outcome, nil
	}
	contentType := response.Header.Get("Content-Type")
	outcome.Code = response.StatusCode
	outcome.IsText = contentType == "" || strings.HasPrefix(contentType, "text/")
	return outcome, body
}

func (c *webhookClients) post(ctx context.Context, h header, review []byte) (*http.Response, []byte, error) {
	client, err := c.trusting(h.CABundle)
	if err != nil {
		return nil, nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL, bytes.NewReader(review))
	if err != nil {
		return nil, nil, err
	}
	request.Header.Set("Accept", "application/json, */*")
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "kube-apiserver-admission")
	response, err := client.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	return response, body, err
}

// trusting returns the client that trusts the authorities of a bundle, or those of this machine without one.
func (c *webhookClients) trusting(bundle string) (*http.Client, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if client, found := c.by[bundle]; found {
		return client, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if strings.TrimSpace(bundle) != "" {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM([]byte(bundle)) {
			// rest.TLSConfigFor
			return nil, errors.New("unable to load root certificates: unable to parse bytes as PEM block")
		}
	}
	// No proxy: a webhook of the test process is on this machine. The API server does not follow redirects.
	client := &http.Client{
		Transport:     &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	if c.by == nil {
		c.by = map[string]*http.Client{}
	}
	c.by[bundle] = client
	return client, nil
}
