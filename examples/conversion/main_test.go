package main

import (
	"encoding/pem"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// roundTrip runs `kubectl crdx test --round-trip` against the webhook.
func roundTrip(t *testing.T, forget bool) (string, error) {
	t.Helper()
	server := httptest.NewTLSServer(handler(forget))
	defer server.Close()
	authority := filepath.Join(t.TempDir(), "ca.crt")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(authority, text, 0o600); err != nil {
		t.Fatal(err)
	}
	host := strings.TrimPrefix(server.URL, "https://")
	command := exec.Command("kubectl-crdx", "test", "--round-trip", "kites.crd.yaml", "--webhook-host", host, "--webhook-ca", authority)
	output, err := command.CombinedOutput()
	return string(output), err
}

func TestObjectsSurviveRoundTrips(t *testing.T) {
	if output, err := roundTrip(t, false); err != nil {
		t.Fatal(output)
	}
}

func TestALossIsFound(t *testing.T) {
	output, err := roundTrip(t, true)
	if err == nil || !strings.Contains(output, "spec.colours") {
		t.Fatal(output)
	}
}
