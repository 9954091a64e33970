package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
)

// recorder keeps what a handler answers.
type recorder struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header            { return r.header }
func (r *recorder) WriteHeader(code int)           { r.code = code }
func (r *recorder) Write(text []byte) (int, error) { return r.body.Write(text) }

// changed returns a handler that answers as another one does, with a planted loss or fault.
func changed(handler http.Handler, lose, fault string) http.Handler {
	if lose == "" && fault == "" {
		return handler
	}
	return http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		answer := &recorder{header: writer.Header(), code: http.StatusOK}
		handler.ServeHTTP(answer, request)
		body := answer.body.Bytes()
		var review map[string]any
		if json.Unmarshal(body, &review) == nil {
			if response, found := review["response"].(map[string]any); found {
				objects, _ := response["convertedObjects"].([]any)
				for _, object := range objects {
					remove(object, lose)
				}
				spoil(response, objects, fault)
				if text, err := json.Marshal(review); err == nil {
					body = text
				}
			}
		}
		writer.WriteHeader(answer.code)
		_, _ = writer.Write(body)
	})
}

// remove removes the field KIND:FIELD.FIELD… from an object of the kind.
func remove(object any, lose string) {
	kind, path, _ := strings.Cut(lose, ":")
	value, _ := object.(map[string]any)
	if kind == "" || value["kind"] != kind {
		return
	}
	names := strings.Split(path, ".")
	for _, name := range names[:len(names)-1] {
		next, found := value[name].(map[string]any)
		if !found {
			return
		}
		value = next
	}
	delete(value, names[len(names)-1])
}

// spoil makes an answer invalid.
func spoil(response map[string]any, objects []any, fault string) {
	first := map[string]any{}
	if len(objects) > 0 {
		first, _ = objects[0].(map[string]any)
	}
	switch fault {
	case "number":
		response["convertedObjects"] = []any{}
	case "uid":
		response["uid"] = "another"
	case "name":
		if metadata, found := first["metadata"].(map[string]any); found {
			metadata["name"] = "another"
		}
	case "apiVersion":
		first["apiVersion"] = "example.com/v7"
	}
}

// recording returns a handler that writes the objects of all requests to a file, one a line.
func recording(handler http.Handler, file string) (http.Handler, error) {
	if file == "" {
		return handler, nil
	}
	out, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	var lock sync.Mutex
	return http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			http.Error(writer, err.Error(), http.StatusBadRequest)
			return
		}
		var review struct {
			Request struct {
				Objects []json.RawMessage `json:"objects"`
			} `json:"request"`
		}
		if json.Unmarshal(body, &review) == nil {
			lock.Lock()
			for _, object := range review.Request.Objects {
				_, _ = out.Write(append(object, '\n'))
			}
			lock.Unlock()
		}
		request.Body = io.NopCloser(bytes.NewReader(body))
		handler.ServeHTTP(writer, request)
	}), nil
}
