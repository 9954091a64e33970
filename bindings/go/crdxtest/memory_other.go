//go:build !linux && !darwin

package crdxtest

import "context"

// withReservedMemory leaves the memory of instances to Go.
func withReservedMemory(ctx context.Context) context.Context { return ctx }
