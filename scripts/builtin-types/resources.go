package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
)

// discovery is the aggregated discovery document that Kubernetes keeps in api/discovery.
type discovery struct {
	Items []group `json:"items"`
}

type group struct {
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Versions []version `json:"versions"`
}

type version struct {
	Version   string     `json:"version"`
	Resources []resource `json:"resources"`
}

type subresource struct {
	Subresource string `json:"subresource"`
}

type resource struct {
	Resource     string `json:"resource"`
	ResponseKind struct {
		Kind string `json:"kind"`
	} `json:"responseKind"`
	Scope            string        `json:"scope"`
	SingularResource string        `json:"singularResource"`
	ShortNames       []string      `json:"shortNames"`
	Categories       []string      `json:"categories"`
	Verbs            []string      `json:"verbs"`
	Subresources     []subresource `json:"subresources"`
}

// stable are the versions that API servers serve without --runtime-config.
var stable = regexp.MustCompile(`^v[0-9]+$`)

// notHere are groups whose kinds are not in client-go's scheme.
var notHere = []string{"apiextensions.k8s.io", "apiregistration.k8s.io"}

// resources writes the table that src/builtin/resources.rs reads: the resources that can be read, and their subresources status and scale.
func resources(w io.Writer, dirs []string) error {
	type found struct {
		key string
		row
	}
	var rows []found
	var minors []int
	var all uint64
	for _, dir := range dirs {
		var minor int
		if _, err := fmt.Sscanf(filepath.Base(dir), "kubernetes@v1.%d.", &minor); err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
		minors = append(minors, minor)
		all |= 1 << minor
		document, err := readDiscovery(dir)
		if err != nil {
			return err
		}
		for _, group := range document.Items {
			for _, version := range group.Versions {
				if !stable.MatchString(version.Version) || slices.Contains(notHere, group.Metadata.Name) {
					continue
				}
				gv := strings.TrimPrefix(group.Metadata.Name+"/"+version.Version, "/")
				for _, r := range version.Resources {
					if !slices.Contains(r.Verbs, "get") {
						continue
					}
					text := resourceRow(gv, r)
					if i := slices.IndexFunc(rows, func(x found) bool { return x.text == text }); i >= 0 {
						rows[i].in |= 1 << minor
					} else {
						rows = append(rows, found{gv + " " + r.Resource, row{text, 1 << minor}})
					}
				}
			}
		}
	}
	sort.SliceStable(rows, func(i, j int) bool { return rows[i].key < rows[j].key })
	fmt.Fprintf(w, "# Made by scripts/builtin-types; src/builtin/resources.rs describes the format.\n")
	for _, r := range rows {
		when, err := span(r.in, all, slices.Min(minors), slices.Max(minors))
		if err != nil {
			return fmt.Errorf("%s: %w", r.text, err)
		}
		fmt.Fprintf(w, "%s%s\n", r.text, when)
	}
	return nil
}

func readDiscovery(dir string) (discovery, error) {
	var document discovery
	text, err := os.ReadFile(filepath.Join(dir, "api/discovery/aggregated_v2.json"))
	if os.IsNotExist(err) {
		// Before 1.31.
		text, err = os.ReadFile(filepath.Join(dir, "api/discovery/aggregated_v2beta1.json"))
	}
	if err != nil {
		return document, err
	}
	if err := json.Unmarshal(text, &document); err != nil {
		return document, err
	}
	// The core group has a document of its own, of another kind.
	text, err = os.ReadFile(filepath.Join(dir, "api/discovery/api__v1.json"))
	if err != nil {
		return document, err
	}
	var core struct {
		Resources []struct {
			Name, SingularName, Kind      string
			Namespaced                    bool
			ShortNames, Categories, Verbs []string
		}
	}
	if err := json.Unmarshal(text, &core); err != nil {
		return document, err
	}
	var of []resource
	for _, c := range core.Resources {
		if parent, sub, ok := strings.Cut(c.Name, "/"); ok {
			for i := range of {
				if of[i].Resource == parent {
					of[i].Subresources = append(of[i].Subresources, subresource{sub})
				}
			}
			continue
		}
		r := resource{Resource: c.Name, SingularResource: c.SingularName, ShortNames: c.ShortNames, Categories: c.Categories, Verbs: c.Verbs, Scope: "Cluster"}
		r.ResponseKind.Kind = c.Kind
		if c.Namespaced {
			r.Scope = "Namespaced"
		}
		of = append(of, r)
	}
	document.Items = slices.DeleteFunc(document.Items, func(g group) bool { return g.Metadata.Name == "" })
	document.Items = append(document.Items, group{Versions: []version{{"v1", of}}})
	return document, nil
}

func resourceRow(gv string, r resource) string {
	words := []string{gv, r.Resource, r.SingularResource, r.ResponseKind.Kind}
	if r.Scope == "Cluster" {
		words = append(words, "cluster")
	}
	for _, list := range []struct {
		key   string
		items []string
	}{{"short", r.ShortNames}, {"categories", r.Categories}} {
		if len(list.items) > 0 {
			words = append(words, list.key+"="+strings.Join(list.items, ","))
		}
	}
	for _, s := range r.Subresources {
		if s.Subresource == "status" || s.Subresource == "scale" {
			words = append(words, s.Subresource)
		}
	}
	if len(r.Verbs) < 8 {
		words = append(words, "verbs="+strings.Join(r.Verbs, ","))
	}
	return strings.Join(words, " ")
}
