// Package fixtures starts `kubectl crdx serve` where Kubernetes' own integration tests start their API server.
package fixtures

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	serveroptions "k8s.io/apiextensions-apiserver/pkg/cmd/server/options"
	servertesting "k8s.io/apiextensions-apiserver/pkg/cmd/server/testing"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// skip ends a test that looks behind the API.
func skip(t servertesting.Logger, why string) error {
	if tb, ok := t.(testing.TB); ok {
		tb.Skip(why)
	}
	return errors.New(why)
}

// StartDefaultServer starts a server of its own for the test.
func StartDefaultServer(t servertesting.Logger, flags ...string) (func(), *rest.Config, *serveroptions.CustomResourceDefinitionsServerOptions, error) {
	if len(flags) > 0 {
		t.Logf("flags are not passed on: %s", strings.Join(flags, " "))
	}
	cmd := exec.Command(os.Getenv("CRDX"), "serve", "--port", "0")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, nil, err
	}
	stop := func() {
		cmd.Process.Kill()
		cmd.Wait()
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		stop()
		return nil, nil, nil, fmt.Errorf("serve printed no URL: %w", err)
	}
	options := serveroptions.NewCustomResourceDefinitionsServerOptions(io.Discard, io.Discard)
	config := &rest.Config{Host: strings.TrimSpace(line), QPS: 10000, Burst: 10000}
	return stop, config, options, nil
}

// StartDefaultServerWithConfigAccess is for tests that look into the server.
func StartDefaultServerWithConfigAccess(t servertesting.Logger, flags ...string) (func(), *rest.Config, apiserver.CompletedConfig, error) {
	return nil, nil, apiserver.CompletedConfig{}, skip(t, "looks into the server's configuration")
}

// StartDefaultServerWithClients starts a server and gives clients of it.
func StartDefaultServerWithClients(t servertesting.Logger, flags ...string) (func(), clientset.Interface, dynamic.Interface, error) {
	stop, config, _, err := StartDefaultServer(t, flags...)
	if err != nil {
		return nil, nil, nil, err
	}
	definitions, err := clientset.NewForConfig(config)
	if err != nil {
		stop()
		return nil, nil, nil, err
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		stop()
		return nil, nil, nil, err
	}
	return stop, definitions, objects, nil
}

// StartDefaultServerWithClientsAndEtcd is for tests that write to etcd.
func StartDefaultServerWithClientsAndEtcd(t servertesting.Logger, flags ...string) (func(), clientset.Interface, dynamic.Interface, *clientv3.Client, string, error) {
	return nil, nil, nil, nil, "", skip(t, "reads or writes etcd")
}
