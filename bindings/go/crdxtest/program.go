package crdxtest

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental/table"
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

// instance is a memory and the functions of the program.
type instance struct {
	module api.Module
	input  bytes.Reader
	output bytes.Buffer
	errors bytes.Buffer
	// The index of the function that answers a frame, and the function.
	index  uint32
	answer api.Function
}

// newInstance returns an instance in which the program has not begun.
func (p *compiledProgram) newInstance() (*instance, error) {
	i := &instance{}
	config := wazero.NewModuleConfig().WithName("").WithSysWalltime().WithSysNanotime().WithStartFunctions().
		WithStdin(&i.input).WithStdout(&i.output).WithStderr(&i.errors)
	var err error
	i.module, err = p.runtime.InstantiateModule(withReservedMemory(context.Background()), p.module, config)
	return i, err
}

// start runs the beginning of the program, which starts a server.
func (i *instance) start(first settings) error {
	frame, err := encodeFrame(first, nil)
	if err != nil {
		return err
	}
	i.input.Reset(frame)
	if _, err := i.module.ExportedFunction("_start").Call(context.Background()); err != nil {
		return fmt.Errorf("%w: %s", err, i.errors.String())
	}
	var started struct {
		Answer uint32 `json:"answer"`
	}
	if _, _, err := decodeFrame(i.output.Bytes(), &started); err != nil {
		return err
	}
	i.find(started.Answer)
	return nil
}

// find finds the function that answers a frame.
func (i *instance) find(index uint32) {
	i.index = index
	i.answer = table.LookupFunction(i.module, 0, index, nil, []api.ValueType{api.ValueTypeI32})
}

// call gives a frame to the program, and returns the frames that it causes. They are valid until the next call.
func (i *instance) call(frame []byte) ([]byte, error) {
	i.input.Reset(frame)
	i.output.Reset()
	results, err := i.answer.Call(context.Background())
	if err != nil {
		return nil, fmt.Errorf("the API server has ended: %w: %s", err, i.errors.String())
	}
	if results[0] != 0 {
		return nil, fmt.Errorf("the API server has ended: %s", i.errors.String())
	}
	return i.output.Bytes(), nil
}

func (i *instance) close() {
	_ = i.module.Close(context.Background())
}
