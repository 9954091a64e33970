// Package crdxtest runs a simulated Kubernetes API server in the process of a test: no program, no port, no files.
//
//	config := crdxtest.New(t, crdxtest.CRDs("config/crd"))
//	c, err := client.New(config, client.Options{})
//
// Every test has a server of its own, and tests may run in parallel. Kubernetes' controllers do not run, as in envtest, and webhooks are
// not called.
package crdxtest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

const crdPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// Option is an option of New.
type Option func(*options)

type options struct {
	version string
	paths   []string
}

// Version sets the Kubernetes version, such as "1.37"; the default is the newest.
func Version(version string) Option {
	return func(o *options) { o.version = version }
}

// CRDs creates the CustomResourceDefinitions in these files and directories. Other objects there are ignored, as envtest does.
func CRDs(paths ...string) Option {
	return func(o *options) { o.paths = append(o.paths, paths...) }
}

// New starts a server, which ends with the test, and returns the configuration of its clients.
func New(t testing.TB, given ...Option) *rest.Config {
	t.Helper()
	var o options
	for _, option := range given {
		option(&o)
	}
	e, err := startEngine(settings{KubernetesVersion: o.version, Seed: rand.Int64()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.close)
	config := &rest.Config{Host: "http://crdx.local", Transport: &transport{e}, QPS: -1}
	if err := install(config.Transport, o.paths); err != nil {
		t.Fatal(err)
	}
	return config
}

// install creates the CRDs in files and directories.
func install(server http.RoundTripper, paths []string) error {
	for _, path := range paths {
		err := filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !isManifest(file) {
				return err
			}
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			for _, document := range bytes.Split(text, []byte("\n---")) {
				if err := create(server, document); err != nil {
					return fmt.Errorf("%s: %w", file, err)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func isManifest(file string) bool {
	switch filepath.Ext(file) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

func create(server http.RoundTripper, document []byte) error {
	var kind struct {
		Kind string `json:"kind"`
	}
	if err := yaml.Unmarshal(document, &kind); err != nil || kind.Kind != "CustomResourceDefinition" {
		return err
	}
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://crdx.local"+crdPath, bytes.NewReader(document))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/yaml")
	response, err := server.RoundTrip(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusCreated {
		return nil
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	var status struct {
		Message string `json:"message"`
	}
	if err := yaml.Unmarshal(body, &status); err != nil {
		return err
	}
	return fmt.Errorf("the server refuses the CRD: %s: %s", response.Status, status.Message)
}
