// Compare measures a server for tests: the start with ten CRDs, a create, 1,000 objects with a cached client, and memory.
//
//	go run ./internal/compare in-process
//	KUBEBUILDER_ASSETS=… go run ./internal/compare envtest      # the real server, or that of `kubectl crdx envtest`
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/OWNER/kubectl-crdx/bindings/go/crdxtest"
	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

const (
	crd     = "../../examples/operators/kites.crd.yaml"
	starts  = 100
	creates = 200
	objects = 1000
)

var kind = schema.GroupVersionKind{Group: "toys.example.com", Version: "v1", Kind: "Kite0"}

func main() {
	log.SetLogger(logr.Discard())
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: compare in-process|envtest")
		os.Exit(2)
	}
	start, count := startInProcess, starts
	if os.Args[1] == "envtest" {
		// A start takes seconds.
		start, count = startEnvtest, 5
	}
	if err := run(start, count); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type starter func(crds string) (*rest.Config, func(), error)

func startInProcess(crds string) (*rest.Config, func(), error) {
	return crdxtest.Start(crdxtest.CRDs(crds))
}

func startEnvtest(crds string) (*rest.Config, func(), error) {
	environment := &envtest.Environment{CRDDirectoryPaths: []string{crds}}
	config, err := environment.Start()
	return config, func() { _ = environment.Stop() }, err
}

func run(start starter, count int) error {
	crds, err := tenCRDs()
	if err != nil {
		return err
	}
	defer os.RemoveAll(crds)
	began := time.Now()
	config, stop, err := start(crds)
	if err != nil {
		return err
	}
	defer stop()
	fmt.Printf("first start with 10 CRDs: %s\n", since(began))
	var times []time.Duration
	for range count {
		began := time.Now()
		_, stop, err := start(crds)
		if err != nil {
			return err
		}
		times = append(times, time.Since(began))
		stop()
	}
	fmt.Printf("start with 10 CRDs, median of %d: %s\n", count, median(times))

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c, err := client.New(config, client.Options{})
	if err != nil {
		return err
	}
	times = nil
	for i := range creates {
		began := time.Now()
		if err := c.Create(ctx, newKite(fmt.Sprintf("a%d", i))); err != nil {
			return err
		}
		times = append(times, time.Since(began))
	}
	fmt.Printf("create, median of %d: %s\n", creates, median(times))
	return cached(ctx, config, c)
}

// cached creates objects and waits until a cached client has seen all of them.
func cached(ctx context.Context, config *rest.Config, c client.Client) error {
	own, err := synced(ctx, config)
	if err != nil {
		return err
	}
	began := time.Now()
	for i := range objects {
		if err := c.Create(ctx, newKite(fmt.Sprintf("b%d", i))); err != nil {
			return err
		}
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind)
	for len(list.Items) < creates+objects {
		if err := own.List(ctx, list); err != nil {
			return err
		}
	}
	fmt.Printf("%d objects created and seen by a cached client: %s\n", objects, since(began))

	began = time.Now()
	if _, err := synced(ctx, config); err != nil {
		return err
	}
	fmt.Printf("cache of %d objects synced: %s\n", creates+objects, since(began))
	return memory()
}

// synced returns a cache that has read all objects.
func synced(ctx context.Context, config *rest.Config) (cache.Cache, error) {
	own, err := cache.New(config, cache.Options{})
	if err != nil {
		return nil, err
	}
	go func() { _ = own.Start(ctx) }()
	if _, err := own.GetInformer(ctx, newKite("")); err != nil {
		return nil, err
	}
	own.WaitForCacheSync(ctx)
	return own, nil
}

// memory prints the resident memory of this process and those that it started.
func memory() error {
	files, err := filepath.Glob("/proc/[0-9]*/status")
	if err != nil {
		return err
	}
	total := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		var pid, parent, kilobytes int
		for line := range strings.Lines(string(text)) {
			_, _ = fmt.Sscanf(line, "Pid: %d", &pid)
			_, _ = fmt.Sscanf(line, "PPid: %d", &parent)
			_, _ = fmt.Sscanf(line, "VmRSS: %d kB", &kilobytes)
		}
		if pid == os.Getpid() || parent == os.Getpid() {
			total += kilobytes
		}
	}
	fmt.Printf("memory of this process and its servers: %d MB\n", total/1024)
	return nil
}

func newKite(name string) *unstructured.Unstructured {
	kite := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"length": int64(3)}}}
	kite.SetGroupVersionKind(kind)
	kite.SetNamespace("default")
	kite.SetName(name)
	return kite
}

// tenCRDs writes the CRD of the example under ten names to a directory.
func tenCRDs() (string, error) {
	text, err := os.ReadFile(crd)
	if err != nil {
		return "", err
	}
	directory, err := os.MkdirTemp("", "crds")
	if err != nil {
		return "", err
	}
	for i := range 10 {
		named := strings.NewReplacer("kites", fmt.Sprintf("kite%ds", i), "kind: Kite", fmt.Sprintf("kind: Kite%d", i), "singular: kite", fmt.Sprintf("singular: kite%d", i)).
			Replace(string(text))
		if err := os.WriteFile(filepath.Join(directory, fmt.Sprintf("%d.yaml", i)), []byte(named), 0o600); err != nil {
			return "", err
		}
	}
	return directory, nil
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2].Round(10 * time.Microsecond)
}

func since(began time.Time) time.Duration {
	return time.Since(began).Round(10 * time.Microsecond)
}
