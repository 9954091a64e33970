package crdxtest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// A write takes as long as one to etcd. Without this pause, a controller can react to a write before the test that made the previous one
// has seen its effect.
const writePause = 3 * time.Millisecond

// transport answers HTTP requests with a server in this process.
type transport struct {
	engine *engine
	// The certificate of the client; nil for clients without one.
	certificate certificateSource
}

func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	var body []byte
	if request.Body != nil {
		defer request.Body.Close()
		var err error
		if body, err = io.ReadAll(request.Body); err != nil {
			return nil, err
		}
	}
	if request.Method != http.MethodGet && request.Method != http.MethodHead {
		time.Sleep(writePause)
	}
	h := header{
		Method:        request.Method,
		Path:          request.URL.RequestURI(),
		ContentType:   request.Header.Get("Content-Type"),
		Accept:        request.Header.Get("Accept"),
		UserAgent:     request.Header.Get("User-Agent"),
		Authorization: request.Header.Get("Authorization"),
	}
	for name, values := range request.Header {
		if strings.HasPrefix(name, "Impersonate-") {
			for _, value := range values {
				h.Impersonate = append(h.Impersonate, [2]string{name, value})
			}
		}
	}
	user, err := t.certificate.user()
	if err != nil {
		return nil, err
	}
	if user != nil {
		// As in the API server, a certificate precedes a token.
		h.Authorization = ""
		if h.Impersonate == nil {
			h.Impersonate = user
		}
	}
	reply := newReply()
	id, err := t.engine.send(h, body, reply.deliver)
	if err != nil {
		return nil, err
	}
	first, err := reply.first(request, t.engine, id)
	if err != nil {
		return nil, t.engine.reason(err)
	}
	response := &http.Response{
		Status:     fmt.Sprintf("%d %s", first.Code, http.StatusText(first.Code)),
		StatusCode: first.Code,
		Proto:      "HTTP/1.1",
		ProtoMajor: 1,
		ProtoMinor: 1,
		Header:     http.Header{},
		Body:       reply,
		Request:    request,
		// A watch has no length.
		ContentLength: -1,
	}
	for _, pair := range first.Headers {
		response.Header.Add(pair[0], pair[1])
	}
	for _, warning := range first.Warnings {
		response.Header.Add("Warning", fmt.Sprintf("299 - %q", warning))
	}
	return response, nil
}

// CloseIdleConnections does nothing, as there are none. client-go asks for this method.
func (t *transport) CloseIdleConnections() {}

// reply is the reply to one request, and the body of its response. Frames wait in it until they are read.
type reply struct {
	started chan header

	mutex   sync.Mutex
	changed *sync.Cond
	bytes   bytes.Buffer
	// The end of the body, after its bytes.
	end  error
	done chan struct{}
	// Ends the exchange in the server.
	stop func()
}

func newReply() *reply {
	r := &reply{started: make(chan header, 1), done: make(chan struct{})}
	r.changed = sync.NewCond(&r.mutex)
	return r
}

func (r *reply) deliver(h header, body []byte) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.bytes.Write(body)
	if h.Last {
		r.finish(io.EOF)
	}
	r.changed.Broadcast()
	select {
	case r.started <- h:
	default:
	}
}

// finish ends the body. The mutex is held.
func (r *reply) finish(end error) {
	if r.end == nil {
		r.end = end
		close(r.done)
	}
}

// first waits for the first frame.
func (r *reply) first(request *http.Request, e *engine, id int64) (header, error) {
	r.stop = func() { e.end(id) }
	ctx := request.Context()
	select {
	case h := <-r.started:
		if h.Code == 0 {
			return h, io.ErrUnexpectedEOF
		}
		if !h.Last {
			go r.watch(ctx, h, func() { e.tell(header{ID: id, Bookmark: true}, nil) })
		}
		return h, nil
	case <-ctx.Done():
		r.stop()
		return header{}, ctx.Err()
	}
}

// watch asks for bookmarks, and ends a watch when its client has gone, or at its timeout.
func (r *reply) watch(ctx context.Context, h header, bookmark func()) {
	timeout := time.NewTimer(time.Duration(h.TimeoutMilliseconds) * time.Millisecond)
	defer timeout.Stop()
	var bookmarks <-chan time.Time
	if h.BookmarkMilliseconds > 0 {
		ticker := time.NewTicker(time.Duration(h.BookmarkMilliseconds) * time.Millisecond)
		defer ticker.Stop()
		bookmarks = ticker.C
	}
	for {
		select {
		case <-bookmarks:
			bookmark()
			continue
		case <-ctx.Done():
			r.close(ctx.Err())
		case <-timeout.C:
			r.close(io.EOF)
		case <-r.done:
		}
		return
	}
}

// close ends the exchange and the body.
func (r *reply) close(end error) {
	r.stop()
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.finish(end)
	r.changed.Broadcast()
}

func (r *reply) Read(into []byte) (int, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for r.bytes.Len() == 0 && r.end == nil {
		r.changed.Wait()
	}
	if r.bytes.Len() > 0 {
		return r.bytes.Read(into)
	}
	return 0, r.end
}

func (r *reply) Close() error {
	r.close(http.ErrBodyReadAfterClose)
	return nil
}
