// Builds what Flux would apply for a repository, with the code of kustomize-controller, and renders its releases with helm:
//
//	go run . REPOSITORY OUT [URL=CHART.tgz …]
//
// A Kustomization that another one builds is built after it, as in a cluster. Variables that are in Secrets and ConfigMaps, and
// releases whose chart is not given, are left out and printed.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/fluxcd/pkg/kustomize"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

type object = unstructured.Unstructured

func main() {
	root, out := must(filepath.Abs(os.Args[1])), os.Args[2]
	charts := map[string]string{}
	for _, given := range os.Args[3:] {
		url, file, _ := strings.Cut(given, "=")
		charts[url] = file
	}
	var all []object
	built := map[string]bool{}
	waiting := topmost(root)
	for len(waiting) > 0 {
		next := waiting[0]
		waiting = waiting[1:]
		if built[next.GetNamespace()+"/"+next.GetName()] {
			continue
		}
		built[next.GetNamespace()+"/"+next.GetName()] = true
		objects, err := build(root, next)
		if err != nil {
			fmt.Printf("not built: %s: %v\n", next.GetName(), err)
			continue
		}
		write(filepath.Join(out, "flux-"+next.GetName()+".yaml"), objects)
		all = append(all, objects...)
		for _, one := range objects {
			if isKustomization(one) {
				waiting = append(waiting, one)
			}
		}
	}
	for _, one := range all {
		if one.GetKind() == "HelmRelease" {
			render(one, all, charts, out)
		}
	}
}

func isKustomization(one object) bool {
	return one.GetKind() == "Kustomization" && strings.HasPrefix(one.GetAPIVersion(), "kustomize.toolkit.fluxcd.io/")
}

func directory(root string, one object) string {
	path, _, _ := unstructured.NestedString(one.Object, "spec", "path")
	return filepath.Join(root, path)
}

// topmost returns the Kustomizations in files that no other one builds.
func topmost(root string) []object {
	files := map[string][]object{}
	filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() && (strings.HasSuffix(path, ".yaml") || strings.HasSuffix(path, ".yml")) {
			for _, text := range strings.Split(string(must(os.ReadFile(path))), "\n---") {
				var one object
				if yaml.Unmarshal([]byte(text), &one.Object) == nil && isKustomization(one) {
					files[path] = append(files[path], one)
				}
			}
		}
		return nil
	})
	var found []object
	for path, objects := range files {
		for _, one := range objects {
			isBuilt := false
			for _, others := range files {
				for _, other := range others {
					if other.GetName() != one.GetName() && strings.HasPrefix(path, directory(root, other)+"/") {
						isBuilt = true
					}
				}
			}
			if !isBuilt {
				found = append(found, one)
			}
		}
	}
	return found
}

func build(root string, one object) ([]object, error) {
	path := directory(root, one)
	action, err := kustomize.NewGenerator(root, one).WriteFile(path, kustomize.WithSaveOriginalKustomization())
	if err != nil {
		return nil, err
	}
	defer kustomize.CleanDirectory(path, action)
	resources, err := kustomize.SecureBuild(root, path, false)
	if err != nil {
		return nil, err
	}
	var objects []object
	for _, resource := range resources.Resources() {
		if _, ok, _ := unstructured.NestedMap(one.Object, "spec", "postBuild"); ok {
			replaced, err := kustomize.SubstituteVariables(context.Background(), nil, one, resource, kustomize.SubstituteWithDryRun(true))
			if err != nil {
				return nil, err
			}
			if replaced != nil {
				resource = replaced
			}
		}
		var object object
		if err := yaml.Unmarshal(must(resource.AsYAML()), &object.Object); err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
	return objects, nil
}

// chart returns the file of the chart of a release.
func chart(release object, all []object, charts map[string]string) string {
	text := func(one object, fields ...string) string {
		value, _, _ := unstructured.NestedString(one.Object, fields...)
		return value
	}
	name, kind := text(release, "spec", "chartRef", "name"), text(release, "spec", "chartRef", "kind")
	if kind == "" {
		name, kind = text(release, "spec", "chart", "spec", "sourceRef", "name"), text(release, "spec", "chart", "spec", "sourceRef", "kind")
	}
	for _, one := range all {
		if one.GetKind() != kind || one.GetName() != name {
			continue
		}
		url := text(one, "spec", "url")
		if kind == "HelmRepository" {
			url = strings.TrimSuffix(url, "/") + "/" + text(release, "spec", "chart", "spec", "chart")
		}
		return charts[url]
	}
	return ""
}

func render(release object, all []object, charts map[string]string, out string) {
	file := chart(release, all, charts)
	_, hasOthers, _ := unstructured.NestedSlice(release.Object, "spec", "valuesFrom")
	if file == "" || hasOthers {
		fmt.Printf("not rendered: HelmRelease %s\n", release.GetName())
		return
	}
	values, _, _ := unstructured.NestedMap(release.Object, "spec", "values")
	command := exec.Command("helm", "template", release.GetName(), file, "--include-crds", "--kube-version", "1.37.2", "--namespace", release.GetNamespace(), "--values", "-")
	command.Stdin = strings.NewReader(string(must(json.Marshal(values))))
	command.Stderr = os.Stderr
	text, err := command.Output()
	if err != nil {
		fmt.Printf("not rendered: HelmRelease %s: %v\n", release.GetName(), err)
		return
	}
	check(os.WriteFile(filepath.Join(out, "release-"+release.GetName()+".yaml"), text, 0o644))
}

func write(path string, objects []object) {
	var text strings.Builder
	for _, one := range objects {
		text.WriteString("---\n")
		text.Write(must(yaml.Marshal(one.Object)))
	}
	check(os.WriteFile(path, []byte(text.String()), 0o644))
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
