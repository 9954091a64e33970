//go:build linux || darwin

package crdxtest

import (
	"context"
	"syscall"

	"github.com/tetratelabs/wazero/experimental"
)

// The memory that a server can use. The system provides only the pages that are written, so that a new memory costs little: Go would
// clear all of it, and copy it to grow.
const reservation = 1 << 30

// withReservedMemory makes instances use memory of the system.
func withReservedMemory(ctx context.Context) context.Context {
	return experimental.WithMemoryAllocator(ctx, experimental.MemoryAllocatorFunc(reserve))
}

func reserve(_, maximum uint64) experimental.LinearMemory {
	size := min(maximum, reservation)
	bytes, err := syscall.Mmap(-1, 0, int(size), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE|syscall.MAP_NORESERVE)
	if err != nil {
		return &heapMemory{}
	}
	return &reservedMemory{bytes}
}

type reservedMemory struct {
	bytes []byte
}

// Reallocate returns the first bytes of the reservation, which are zero if they have not been used. Without room, the memory cannot grow.
func (m *reservedMemory) Reallocate(size uint64) []byte {
	if size > uint64(len(m.bytes)) {
		return nil
	}
	return m.bytes[:size]
}

func (m *reservedMemory) Free() {
	_ = syscall.Munmap(m.bytes)
}

// heapMemory is memory of Go, where the system gives none.
type heapMemory struct {
	bytes []byte
}

func (m *heapMemory) Reallocate(size uint64) []byte {
	if missing := int(size) - len(m.bytes); missing > 0 {
		m.bytes = append(m.bytes, make([]byte, missing)...)
	}
	return m.bytes
}

func (m *heapMemory) Free() {}
