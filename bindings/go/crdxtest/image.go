package crdxtest

import (
	"bytes"
	"errors"
	"fmt"
	"sync"

	"github.com/tetratelabs/wazero/api"
)

// image is the memory of a server between two frames. A copy of it is a server in the same state, and takes a fraction of the time in
// which a server starts and compiles its CRDs.
type image struct {
	program *compiledProgram
	answer  uint32
	size    uint32
	// The blocks that differ from the memory of a program that has not begun.
	blocks []block
}

type block struct {
	offset uint32
	bytes  []byte
}

const (
	blockSize = 4096
	pageSize  = 65536
)

// capture copies the memory of an instance.
func capture(p *compiledProgram, from *instance) (*image, error) {
	fresh, err := p.newInstance()
	if err != nil {
		return nil, err
	}
	defer fresh.close()
	size := from.module.Memory().Size()
	memory, ok := from.module.Memory().Read(0, size)
	if !ok {
		return nil, errors.New("the memory of the server cannot be read")
	}
	initial, ok := fresh.module.Memory().Read(0, fresh.module.Memory().Size())
	if !ok {
		return nil, errors.New("the memory of the server cannot be read")
	}
	image := &image{program: p, answer: from.index, size: size}
	var zeros [blockSize]byte
	for offset := uint32(0); offset < size; offset += blockSize {
		now, before := memory[offset:offset+blockSize], zeros[:]
		if int(offset) < len(initial) {
			before = initial[offset : offset+blockSize]
		}
		if bytes.Equal(now, before) {
			continue
		}
		if last := len(image.blocks) - 1; last >= 0 && image.blocks[last].offset+uint32(len(image.blocks[last].bytes)) == offset {
			image.blocks[last].bytes = append(image.blocks[last].bytes, now...)
		} else {
			image.blocks = append(image.blocks, block{offset, bytes.Clone(now)})
		}
	}
	return image, nil
}

// copy returns an instance with this memory.
func (m *image) copy() (*instance, error) {
	i, err := m.program.newInstance()
	if err != nil {
		return nil, err
	}
	if err := m.write(i.module.Memory()); err != nil {
		i.close()
		return nil, err
	}
	i.find(m.answer)
	return i, nil
}

func (m *image) write(memory api.Memory) error {
	if missing := m.size - memory.Size(); missing > 0 {
		if _, ok := memory.Grow(missing / pageSize); !ok {
			return errors.New("there is no memory for a server")
		}
	}
	for _, block := range m.blocks {
		if !memory.Write(block.offset, block.bytes) {
			return fmt.Errorf("the memory of the server has no byte %d", block.offset)
		}
	}
	return nil
}

// The images of servers with these settings and CRDs. Tests use few different ones.
var images struct {
	sync.Mutex
	by map[string]func() (*image, error)
}

// imageOf returns the image of a server with these CRDs, which it starts unless there is one.
func imageOf(first settings, crds []manifest) (*image, error) {
	key := first.KubernetesVersion
	for _, crd := range crds {
		key += "\x00" + string(crd.text)
	}
	images.Lock()
	start, found := images.by[key]
	if !found {
		if images.by == nil {
			images.by = map[string]func() (*image, error){}
		}
		start = sync.OnceValues(func() (*image, error) { return startImage(first, crds) })
		images.by[key] = start
	}
	images.Unlock()
	return start()
}

// startImage starts a server, creates CRDs and returns the image of the server.
func startImage(first settings, crds []manifest) (*image, error) {
	p, err := program()
	if err != nil {
		return nil, fmt.Errorf("compile the API server: %w", err)
	}
	i, err := p.newInstance()
	if err != nil {
		return nil, err
	}
	if err := i.start(first); err != nil {
		i.close()
		return nil, fmt.Errorf("start the API server: %w", err)
	}
	e := newEngine(i, nil)
	defer e.close()
	for _, crd := range crds {
		if err := create(&transport{engine: e}, crd); err != nil {
			return nil, err
		}
	}
	return capture(p, i)
}
