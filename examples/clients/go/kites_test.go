// Package kites shows how to test against `kubectl crdx serve`: it is started once, on a free port, with the CRD under test.
// Only the standard library is used here; client-go works the same with rest.Config{Host: url}.
package kites

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
)

var url string

func TestMain(m *testing.M) {
	serve := exec.Command("kubectl-crdx", "serve", "--load", "../kites.crd.yaml")
	serve.Stderr = os.Stderr
	out, err := serve.StdoutPipe()
	if err != nil {
		panic(err)
	}
	if err := serve.Start(); err != nil {
		panic(err)
	}
	// The first line is the URL; once it is there, everything is served.
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		panic(err)
	}
	url = strings.TrimSpace(line)
	code := m.Run()
	_ = serve.Process.Kill()
	_ = serve.Wait()
	os.Exit(code)
}

func create(t *testing.T, kite string) (int, string) {
	t.Helper()
	answer, err := http.Post(url+"/apis/toys.example.com/v1/namespaces/default/kites", "application/json", strings.NewReader(kite))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, string(body)
}

func TestColourIsDefaulted(t *testing.T) {
	code, body := create(t, `{"apiVersion":"toys.example.com/v1","kind":"Kite","metadata":{"name":"a"},"spec":{"length":3}}`)
	if code != 201 || !strings.Contains(body, `"colour":"red"`) {
		t.Fatalf("%d %s", code, body)
	}
}

func TestLengthIsPositive(t *testing.T) {
	code, body := create(t, `{"apiVersion":"toys.example.com/v1","kind":"Kite","metadata":{"name":"b"},"spec":{"length":0}}`)
	if code != 422 || !strings.Contains(body, "should be greater than or equal to 1") {
		t.Fatalf("%d %s", code, body)
	}
}
