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

// resources writes the table that crates/crdx-types/src/resources.rs reads: the resources that API servers serve by default, and their
// subresources status and scale.
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
		isDefault, err := defaults(dir, document)
		if err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
		for _, group := range document.Items {
			for _, version := range group.Versions {
				gv := strings.TrimPrefix(group.Metadata.Name+"/"+version.Version, "/")
				for _, r := range version.Resources {
					if !isDefault(group.Metadata.Name, version.Version, r.Resource) {
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
	fmt.Fprintf(w, "# Made by scripts/builtin-types from Kubernetes 1.%d to 1.%d; crates/crdx-types/src/resources.rs describes the format.\n", slices.Min(minors), slices.Max(minors))
	for _, r := range rows {
		when, err := span(r.in, all, slices.Min(minors), slices.Max(minors))
		if err != nil {
			return fmt.Errorf("%s: %w", r.text, err)
		}
		fmt.Fprintf(w, "%s%s\n", r.text, when)
	}
	return nil
}

var (
	aliases = regexp.MustCompile(`(?m)^\t(\w+) "k8s\.io/(?:api|kubernetes/pkg/apis)/(\w+)/(\w+)"$`)
	lists   = regexp.MustCompile(`(?ms)^\t(\w+) = \[\]schema\.GroupVersion(?:Resource)?\{$(.*?)^\t\}$`)
	entries = regexp.MustCompile(`(?m)^\t\t(\w+)\.SchemeGroupVersion(?:\.WithResource\("(\w+)"\))?,`)
)

// defaults reads the default resource configuration (DefaultAPIResourceConfigSource). The discovery documents are those of a
// server that serves every version with all feature gates. In no release does a resource of a version that is enabled by
// default depend on a feature gate that is off by default (pkg/registry/*/rest).
func defaults(dir string, document discovery) (func(group, version, resource string) bool, error) {
	source, err := os.ReadFile(filepath.Join(dir, "pkg/controlplane/instance.go"))
	if err != nil {
		return nil, err
	}
	groups := map[string]string{}
	for _, group := range document.Items {
		name, _, _ := strings.Cut(group.Metadata.Name, ".")
		if name == "" {
			name = "core"
		}
		groups[name] = group.Metadata.Name
	}
	packages := map[string][2]string{}
	for _, alias := range aliases.FindAllSubmatch(source, -1) {
		packages[string(alias[1])] = [2]string{string(alias[2]), string(alias[3])}
	}
	// The default configurations of apiextensions-apiserver and kube-aggregator.
	enabled := map[string]bool{"apiextensions.k8s.io/v1/": true, "apiregistration.k8s.io/v1/": true}
	for _, list := range lists.FindAllSubmatch(source, -1) {
		name := string(list[1])
		if !strings.HasSuffix(name, "EnabledByDefault") && name != "legacyBetaEnabledByDefaultResources" {
			continue
		}
		for _, entry := range entries.FindAllSubmatch(list[2], -1) {
			of, ok := packages[string(entry[1])]
			group, known := groups[of[0]]
			if !ok || !known {
				return nil, fmt.Errorf("%s: no group for %s", name, entry[1])
			}
			enabled[group+"/"+of[1]+"/"+string(entry[2])] = true
		}
	}
	if len(enabled) < 15 {
		return nil, fmt.Errorf("only %d versions are enabled by default", len(enabled))
	}
	return func(group, version, resource string) bool {
		version = group + "/" + version + "/"
		return enabled[version] || enabled[version+resource]
	}, nil
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
