package crdxtest

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// webhookClients call webhooks with client-go, as the API server does: redirects, responses with Retry-After and errors are its own.
type webhookClients struct {
	// Ends with the server.
	ctx   context.Context
	end   context.CancelFunc
	mutex sync.Mutex
	// The addresses of Services, by their host names.
	services map[string]string
	// The transports by the certificate authorities that they trust.
	transports map[string]*http.Transport
}

func newWebhookClients(services map[string]string) *webhookClients {
	ctx, end := context.WithCancel(context.Background())
	return &webhookClients{ctx: ctx, end: end, services: services, transports: map[string]*http.Transport{}}
}

// close ends the calls, and closes the connections.
func (c *webhookClients) close() {
	c.end()
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for _, transport := range c.transports {
		transport.CloseIdleConnections()
	}
}

// call makes a call, and returns the frame with its outcome.
func (c *webhookClients) call(h header, review []byte) (header, []byte) {
	code, body, err := c.post(h, review)
	if err != nil {
		return header{ID: h.ID, Call: h.Call, Error: err.Error()}, nil
	}
	return header{ID: h.ID, Call: h.Call, Code: code}, body
}

// post sends a review, and returns the status code and the body of the response.
func (c *webhookClients) post(h header, review []byte) (code int, body []byte, err error) {
	ctx, cancel := context.WithTimeout(c.ctx, time.Duration(h.TimeoutMilliseconds)*time.Millisecond)
	defer cancel()
	client, err := c.client(h)
	if err != nil {
		return 0, nil, err
	}
	result := client.Post().RequestURI(h.URL).SetHeader("Content-Type", "application/json").
		SetHeader("User-Agent", "kube-apiserver-admission").Body(review).Do(ctx)
	if err := result.Error(); err != nil {
		return 0, nil, err
	}
	result.StatusCode(&code)
	body, err = result.Raw()
	return code, body, err
}

// client returns a client of the webhook: k8s.io/apiserver/pkg/util/webhook.
func (c *webhookClients) client(h header) (*rest.RESTClient, error) {
	address, err := url.Parse(h.URL)
	if err != nil {
		return nil, err
	}
	config := &rest.Config{
		Host:            address.Scheme + "://" + address.Host,
		TLSClientConfig: rest.TLSClientConfig{CAData: []byte(h.CABundle)},
		QPS:             -1,
		ContentConfig: rest.ContentConfig{
			ContentType: runtime.ContentTypeJSON,
			// A webhook may answer with any content type.
			NegotiatedSerializer: serializer.NegotiatedSerializerWrapper(runtime.SerializerInfo{Serializer: scheme.Codecs.LegacyCodec()}),
		},
	}
	transport, err := c.transport(config)
	if err != nil {
		return nil, err
	}
	return rest.UnversionedRESTClientForConfigAndClient(config, &http.Client{Transport: limitedTransport{transport, h.MaxBytes}})
}

// transport returns the transport that trusts the authorities of a configuration, or those of this machine without one.
func (c *webhookClients) transport(config *rest.Config) (*http.Transport, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if transport, found := c.transports[string(config.CAData)]; found {
		return transport, nil
	}
	tls, err := rest.TLSConfigFor(config)
	if err != nil {
		return nil, err
	}
	// No proxy: a webhook of the test process is on this machine.
	transport := &http.Transport{TLSClientConfig: tls, DialContext: c.dial, ForceAttemptHTTP2: true}
	c.transports[string(config.CAData)] = transport
	return transport, nil
}

func (c *webhookClients) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if host, _, err := net.SplitHostPort(address); err == nil {
		if service, found := c.services[host]; found {
			address = service
		}
	}
	return new(net.Dialer).DialContext(ctx, network, address)
}

// limitedTransport limits the lengths of responses.
type limitedTransport struct {
	http.RoundTripper
	most int64
}

func (t limitedTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := t.RoundTripper.RoundTrip(request)
	if err == nil {
		response.Body = &limitedBody{response.Body, t.most, t.most}
	}
	return response, err
}

type limitedBody struct {
	io.ReadCloser
	most, left int64
}

func (b *limitedBody) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	if b.left -= int64(n); b.left < 0 {
		return 0, fmt.Errorf("the response is longer than %d bytes", b.most)
	}
	return n, err
}
