package crdxtest

import (
	"errors"
	"sync"
	"time"
)

// engine is one server: an instance of the program, and the exchanges with it that have not ended.
type engine struct {
	// Held while the program runs and its frames are delivered, in their order.
	mutex    sync.Mutex
	instance *instance
	// The exchanges whose last frame has not arrived, by ID. Their functions must not block.
	open map[int64]func(header, []byte)
	next int64
	// Set when the program has ended.
	failure error
	clients *webhookClients
}

var errStopped = errors.New("the API server has ended with its test")

// newEngine returns an engine with the addresses of webhooks by the host names of their Services.
func newEngine(i *instance, services map[string]string) *engine {
	return &engine{instance: i, open: map[int64]func(header, []byte){}, clients: newWebhookClients(services)}
}

// send sends a request; deliver is called with each frame of its answer.
func (e *engine) send(h header, body []byte, deliver func(header, []byte)) (int64, error) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.failure != nil {
		return 0, e.failure
	}
	e.next++
	h.ID = e.next
	e.open[h.ID] = deliver
	return h.ID, e.exchange(h, body)
}

// tell sends a frame about an exchange, if it is open.
func (e *engine) tell(h header, body []byte) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if _, open := e.open[h.ID]; open && e.failure == nil {
		_ = e.exchange(h, body)
	}
}

// end ends an exchange whose client is gone.
func (e *engine) end(id int64) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if _, open := e.open[id]; open && e.failure == nil {
		delete(e.open, id)
		_ = e.exchange(header{ID: id, End: true}, nil)
	}
}

// exchange gives a frame to the program and delivers those that it causes. The mutex is held.
func (e *engine) exchange(h any, body []byte) error {
	frame, err := encodeFrame(h, body)
	if err != nil {
		return err
	}
	frames, err := e.instance.call(frame)
	for err == nil && len(frames) > 0 {
		var reply header
		if body, frames, err = decodeFrame(frames, &reply); err == nil {
			e.deliver(reply, body)
		}
	}
	if err != nil {
		e.fail(err)
	}
	return err
}

func (e *engine) deliver(h header, body []byte) {
	switch {
	case h.PauseMilliseconds > 0:
		time.AfterFunc(time.Duration(h.PauseMilliseconds)*time.Millisecond, func() { e.tell(header{ID: h.ID, Resume: true}, nil) })
	case h.Call != nil:
		body = append([]byte(nil), body...)
		go func() { e.tell(e.clients.call(h, body)) }()
	default:
		deliver := e.open[h.ID]
		if h.Last {
			delete(e.open, h.ID)
		}
		if deliver != nil {
			deliver(h, body)
		}
	}
}

// fail ends all exchanges. The mutex is held.
func (e *engine) fail(err error) {
	if e.failure != nil {
		return
	}
	e.failure = err
	open := e.open
	e.open = nil
	for id, deliver := range open {
		deliver(header{ID: id, Last: true}, nil)
	}
	e.clients.close()
	e.instance.close()
}

// reason returns why an exchange failed: the end of the program, if it has ended.
func (e *engine) reason(err error) error {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.failure != nil {
		return e.failure
	}
	return err
}

func (e *engine) close() {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.fail(errStopped)
}
