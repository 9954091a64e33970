package crdxtest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"

	"sigs.k8s.io/yaml"
)

const crdPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// manifest is a CustomResourceDefinition in a file.
type manifest struct {
	file string
	text []byte
}

// readManifests returns the CRDs in files and directories.
func readManifests(paths []string) ([]manifest, error) {
	var found []manifest
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
				isDefinition, err := isDefinition(document)
				if err != nil {
					return fmt.Errorf("%s: %w", file, err)
				}
				if isDefinition {
					found = append(found, manifest{file, document})
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

func isManifest(file string) bool {
	switch filepath.Ext(file) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

var (
	definition = []byte("CustomResourceDefinition")
	// The kind of an object in YAML with blocks. To parse a large CRD takes longer than to start a server.
	definitionKind = regexp.MustCompile(`(?m)^kind: *["']?CustomResourceDefinition["']? *\r?$`)
)

func isDefinition(document []byte) (bool, error) {
	if !bytes.Contains(document, definition) {
		return false, nil
	}
	if definitionKind.Match(document) {
		return true, nil
	}
	var object struct {
		Kind string `json:"kind"`
	}
	err := yaml.Unmarshal(document, &object)
	return object.Kind == string(definition), err
}

// create creates a CRD.
func create(server http.RoundTripper, crd manifest) error {
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://crdx.local"+crdPath, bytes.NewReader(crd.text))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/yaml")
	response, err := server.RoundTrip(request)
	if err != nil {
		return fmt.Errorf("%s: %w", crd.file, err)
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
	return fmt.Errorf("%s: the server refuses the CRD: %s: %s", crd.file, response.Status, status.Message)
}
