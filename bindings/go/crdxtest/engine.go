package crdxtest

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

//go:embed engine.wasm.gz
var compressed []byte

// The program, compiled once per process. Compilations are kept in the user's cache directory for the next processes.
var program = sync.OnceValues(func() (*compiledProgram, error) {
	reader, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return nil, err
	}
	wasm, err := io.ReadAll(reader)
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	config := wazero.NewRuntimeConfig()
	if directory, err := os.UserCacheDir(); err == nil {
		if cache, err := wazero.NewCompilationCacheWithDir(filepath.Join(directory, "crdxtest")); err == nil {
			config = config.WithCompilationCache(cache)
		}
	}
	runtime := wazero.NewRuntimeWithConfig(ctx, config)
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, runtime); err != nil {
		return nil, err
	}
	module, err := runtime.CompileModule(ctx, wasm)
	if err != nil {
		return nil, err
	}
	return &compiledProgram{runtime, module}, nil
})

type compiledProgram struct {
	runtime wazero.Runtime
	module  wazero.CompiledModule
}

// header is the header of a frame, in both directions.
type header struct {
	ID          int64  `json:"id"`
	Method      string `json:"method,omitempty"`
	Path        string `json:"path,omitempty"`
	ContentType string `json:"contentType,omitempty"`
	Accept      string `json:"accept,omitempty"`
	UserAgent   string `json:"userAgent,omitempty"`
	End         bool   `json:"end,omitempty"`

	Code                int         `json:"code,omitempty"`
	Headers             [][2]string `json:"headers,omitempty"`
	Warnings            []string    `json:"warnings,omitempty"`
	TimeoutMilliseconds int64       `json:"timeoutMilliseconds,omitempty"`
	Last                bool        `json:"last,omitempty"`
}

// settings are the first frame.
type settings struct {
	KubernetesVersion string `json:"kubernetesVersion,omitempty"`
	Seed              int64  `json:"seed"`
}

// engine is one instance of the program: a server.
type engine struct {
	requests *io.PipeWriter
	// Held while a frame is written.
	writing sync.Mutex

	mutex sync.Mutex
	// The exchanges whose last frame has not arrived, by ID.
	open map[int64]func(header, []byte)
	next int64
	// Set when the program has ended.
	failure error
}

func startEngine(first settings) (*engine, error) {
	compiled, err := program()
	if err != nil {
		return nil, fmt.Errorf("compile the API server: %w", err)
	}
	input, requests := io.Pipe()
	replies, output := io.Pipe()
	var messages bytes.Buffer
	config := wazero.NewModuleConfig().WithName("").WithSysWalltime().WithSysNanotime().
		WithStdin(input).WithStdout(output).WithStderr(&messages)
	e := &engine{requests: requests, open: map[int64]func(header, []byte){}}
	go func() {
		module, err := compiled.runtime.InstantiateModule(context.Background(), compiled.module, config)
		if module != nil {
			module.Close(context.Background())
		}
		if err == nil {
			err = io.EOF
		}
		err = fmt.Errorf("the API server has ended: %w: %s", err, messages.String())
		output.CloseWithError(err)
		input.CloseWithError(err)
	}()
	go e.read(replies)
	return e, e.write(first, nil)
}

// read delivers the frames of the program.
func (e *engine) read(replies io.Reader) {
	for {
		h, body, err := readFrame(replies)
		e.mutex.Lock()
		if err != nil {
			e.failure = err
			open := e.open
			e.open = nil
			e.mutex.Unlock()
			for id, deliver := range open {
				deliver(header{ID: id, Last: true}, nil)
			}
			return
		}
		deliver := e.open[h.ID]
		if h.Last {
			delete(e.open, h.ID)
		}
		e.mutex.Unlock()
		if deliver != nil {
			deliver(h, body)
		}
	}
}

// send sends a request; deliver is called with each frame of its reply. It must not block.
func (e *engine) send(h header, body []byte, deliver func(header, []byte)) (int64, error) {
	e.mutex.Lock()
	if e.failure != nil {
		defer e.mutex.Unlock()
		return 0, e.failure
	}
	e.next++
	h.ID = e.next
	e.open[h.ID] = deliver
	e.mutex.Unlock()
	return h.ID, e.write(h, body)
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

// end ends a watch.
func (e *engine) end(id int64) {
	e.mutex.Lock()
	_, open := e.open[id]
	delete(e.open, id)
	e.mutex.Unlock()
	if open {
		_ = e.write(header{ID: id, End: true}, nil)
	}
}

func (e *engine) close() {
	_ = e.requests.Close()
}

func (e *engine) write(h any, body []byte) error {
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	frame := make([]byte, 8, 8+len(text)+len(body))
	binary.LittleEndian.PutUint32(frame, uint32(len(text)))
	binary.LittleEndian.PutUint32(frame[4:], uint32(len(body)))
	frame = append(append(frame, text...), body...)
	e.writing.Lock()
	defer e.writing.Unlock()
	_, err = e.requests.Write(frame)
	return err
}

func readFrame(replies io.Reader) (header, []byte, error) {
	var h header
	var lengths [8]byte
	if _, err := io.ReadFull(replies, lengths[:]); err != nil {
		return h, nil, err
	}
	text := make([]byte, binary.LittleEndian.Uint32(lengths[:]))
	body := make([]byte, binary.LittleEndian.Uint32(lengths[4:]))
	if _, err := io.ReadFull(replies, text); err != nil {
		return h, nil, err
	}
	if _, err := io.ReadFull(replies, body); err != nil {
		return h, nil, err
	}
	return h, body, json.Unmarshal(text, &h)
}
