// Command builtin-types makes crates/crdx-types/src/types.txt: the Go types that the API server decodes built-in kinds into.
//
//	builtin-types dump                  the types of the Kubernetes release of go.mod, as JSON
//	builtin-types merge DUMP…           one table of several releases
//	builtin-types resources DIR…        one table of the resources of several releases, from the sources of Kubernetes
//	builtin-types internal DIR…         one table of the internal types of several releases that error messages show, from the same sources
//
// generate.sh runs it for every release that the table holds.
package main

import (
	"encoding/json"
	"fmt"
	"os"
)

// release is what one Kubernetes release has.
type release struct {
	Minor int                 `json:"minor"`
	Kinds map[string]kind     `json:"kinds"` // by group version and kind, with a space between them
	Types map[string]typeInfo `json:"types"` // by package and name: core/v1.Pod
}

// kind is a kind that a request body may have.
type kind struct {
	Type       string `json:"type"`
	AnyVersion bool   `json:"anyVersion,omitempty"` // the scheme takes it whatever its group and version
	Served     bool   `json:"served,omitempty"`     // a cluster of this release can serve it
	Cluster    bool   `json:"cluster,omitempty"`    // not namespaced
	Introduced string `json:"introduced,omitempty"` // 1.9
	Deprecated string `json:"deprecated,omitempty"`
	Removed    string `json:"removed,omitempty"`
	Instead    string `json:"instead,omitempty"` // the group version and kind to use instead
}

// typeInfo is a struct, with fields, or another named type.
type typeInfo struct {
	Atomic bool     `json:"atomic,omitempty"` // +structType=atomic or +mapType=atomic
	Of     string   `json:"of,omitempty"`     // the underlying type where it is not a struct
	Custom bool     `json:"custom,omitempty"` // it has its own UnmarshalJSON
	Enum   []string `json:"enum,omitempty"`
	Fields []field  `json:"fields,omitempty"`
}

// field is a field of a struct, in the order of the Go source.
type field struct {
	Name  string `json:"name"` // in JSON; in Go where the field is embedded
	Type  string `json:"type"`
	Flags string `json:"flags,omitempty"`
	Merge string `json:"merge,omitempty"` // how patches and applies merge it, and its default: the words of merging
}

// The flags of a field.
const (
	flagInline   = "i" // embedded: its fields are fields of the outer object
	flagOmit     = "e" // omitempty
	flagZero     = "z" // omitzero
	flagOptional = "o" // +optional
	flagRequired = "r" // +required
	flagDefault  = "d" // +default
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "builtin-types:", err)
		os.Exit(1)
	}
}

func main() {
	switch {
	case len(os.Args) == 2 && os.Args[1] == "dump":
		e := json.NewEncoder(os.Stdout)
		e.SetEscapeHTML(false)
		check(e.Encode(dump()))
	case len(os.Args) > 2 && os.Args[1] == "resources":
		check(resources(os.Stdout, os.Args[2:]))
	case len(os.Args) > 2 && os.Args[1] == "internal":
		check(internal(os.Stdout, os.Args[2:]))
	case len(os.Args) > 2 && os.Args[1] == "merge":
		var all []release
		for _, path := range os.Args[2:] {
			text, err := os.ReadFile(path)
			check(err)
			var r release
			check(json.Unmarshal(text, &r))
			all = append(all, r)
		}
		check(merge(os.Stdout, all))
	default:
		fmt.Fprintln(os.Stderr, "usage: builtin-types dump | merge DUMP… | resources DIR… | internal DIR…")
		os.Exit(2)
	}
}
