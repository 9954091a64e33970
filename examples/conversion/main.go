// A conversion webhook for the CRD in kites.crd.yaml.
//
// v1beta1 has one colour, and v1 a list. The other colours are kept in an annotation of the v1beta1 object, so that they are there
// again when it is written back.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"net/http"
	"strings"
)

const (
	group      = "toys.example.com/"
	annotation = "toys.example.com/colours"
)

// review is a ConversionReview of apiextensions.k8s.io/v1.
type review struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Request    *request  `json:"request,omitempty"`
	Response   *response `json:"response,omitempty"`
}

type request struct {
	UID               string `json:"uid"`
	DesiredAPIVersion string `json:"desiredAPIVersion"`
	Objects           []kite `json:"objects"`
}

type response struct {
	UID              string `json:"uid"`
	ConvertedObjects []kite `json:"convertedObjects"`
	Result           result `json:"result"`
}

type result struct {
	Status  string `json:"status"`
	Message string `json:"message,omitempty"`
}

// kite is an object of either version.
type kite struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Metadata   map[string]any `json:"metadata"`
	Spec       *spec          `json:"spec,omitempty"`
}

type spec struct {
	// v1beta1
	Size   string  `json:"size,omitempty"`
	Colour *string `json:"colour,omitempty"`
	// v1
	Width   *int     `json:"width,omitempty"`
	Height  *int     `json:"height,omitempty"`
	Colours []string `json:"colours,omitempty"`
}

func main() {
	address := flag.String("address", "127.0.0.1:9443", "the address to listen on")
	file := flag.String("certificate", "ca.crt", "the file to which the certificate is written")
	forget := flag.Bool("forget", false, "forget all colours but the first one, to see what a round trip finds")
	flag.Parse()
	http.Handle("/convert", handler(*forget))
	listener, err := listen(*address, *file)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("https://%s/convert\n", listener.Addr())
	log.Fatal(http.Serve(listener, nil))
}

// handler answers ConversionReviews. If forget is true, colours are lost.
func handler(forget bool) http.Handler {
	return http.HandlerFunc(func(writer http.ResponseWriter, received *http.Request) {
		var asked review
		if err := json.NewDecoder(received.Body).Decode(&asked); err != nil || asked.Request == nil {
			http.Error(writer, "no ConversionReview", http.StatusBadRequest)
			return
		}
		asked.Response = answer(asked.Request, forget)
		asked.Request = nil
		writer.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(writer).Encode(asked); err != nil {
			log.Print(err)
		}
	})
}

func answer(asked *request, forget bool) *response {
	done := &response{UID: asked.UID, ConvertedObjects: []kite{}, Result: result{Status: "Success"}}
	for _, object := range asked.Objects {
		converted, err := convert(object, strings.TrimPrefix(asked.DesiredAPIVersion, group), forget)
		if err != nil {
			return &response{UID: asked.UID, Result: result{Status: "Failed", Message: err.Error()}}
		}
		done.ConvertedObjects = append(done.ConvertedObjects, converted)
	}
	return done
}

func convert(object kite, version string, forget bool) (kite, error) {
	object.APIVersion = group + version
	if object.Spec == nil {
		return object, nil
	}
	given := *object.Spec
	annotations, _ := object.Metadata["annotations"].(map[string]any)
	kept := map[string]any{}
	for name, value := range annotations {
		kept[name] = value
	}
	delete(kept, annotation)
	switch version {
	case "v1":
		var width, height int
		if _, err := fmt.Sscanf(given.Size, "%dx%d", &width, &height); err != nil {
			return kite{}, fmt.Errorf("spec.size: %w", err)
		}
		object.Spec = &spec{Width: &width, Height: &height}
		if given.Colour != nil {
			object.Spec.Colours = []string{*given.Colour}
		}
		if text, found := annotations[annotation].(string); found {
			var more []string
			if err := json.Unmarshal([]byte(text), &more); err != nil {
				return kite{}, fmt.Errorf("%s: %w", annotation, err)
			}
			object.Spec.Colours = append(object.Spec.Colours, more...)
		}
	case "v1beta1":
		if given.Width == nil || given.Height == nil {
			return kite{}, errors.New("spec has no width or no height")
		}
		object.Spec = &spec{Size: fmt.Sprintf("%dx%d", *given.Width, *given.Height)}
		if len(given.Colours) > 0 {
			object.Spec.Colour = &given.Colours[0]
		}
		if len(given.Colours) > 1 && !forget {
			text, err := json.Marshal(given.Colours[1:])
			if err != nil {
				return kite{}, err
			}
			kept[annotation] = string(text)
		}
	default:
		return kite{}, fmt.Errorf("no version %q", version)
	}
	metadata := map[string]any{}
	for name, value := range object.Metadata {
		metadata[name] = value
	}
	delete(metadata, "annotations")
	if len(kept) > 0 {
		metadata["annotations"] = kept
	}
	object.Metadata = metadata
	return object, nil
}
