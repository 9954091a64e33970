package crdxtest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/OWNER/kubectl-crdx/bindings/go/crdxtest"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	crds      = "../../../examples/operators/kites.crd.yaml"
	finalizer = "toys.example.com/land"
)

var kind = schema.GroupVersionKind{Group: "toys.example.com", Version: "v1", Kind: "Kite"}

func newKite(name string, spec map[string]any) *unstructured.Unstructured {
	kite := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	kite.SetGroupVersionKind(kind)
	kite.SetNamespace("default")
	kite.SetName(name)
	return kite
}

func newClient(t testing.TB, config *rest.Config) client.Client {
	t.Helper()
	c, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestDefaultsAndRulesAreThoseOfTheCRD(t *testing.T) {
	t.Parallel()
	c := newClient(t, crdxtest.New(t, crdxtest.CRDs(crds)))
	kite := newKite("a", map[string]any{"length": int64(3)})
	if err := c.Create(context.Background(), kite); err != nil {
		t.Fatal(err)
	}
	if tail, _, _ := unstructured.NestedInt64(kite.Object, "spec", "tail"); tail != 1 {
		t.Errorf("the tail is %d", tail)
	}
	err := c.Create(context.Background(), newKite("b", map[string]any{"length": int64(1), "tail": int64(9)}))
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "the tail may be at most twice as long as the kite") {
		t.Error(err)
	}
}

func TestEveryServerHasItsOwnState(t *testing.T) {
	t.Parallel()
	for i := range 20 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			c := newClient(t, crdxtest.New(t, crdxtest.CRDs(crds)))
			if err := c.Create(context.Background(), newKite("a", map[string]any{"length": int64(3)})); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAnUpdateOfAnOldVersionIsAConflict(t *testing.T) {
	t.Parallel()
	c := newClient(t, crdxtest.New(t, crdxtest.CRDs(crds)))
	kite := newKite("a", map[string]any{"length": int64(3)})
	if err := c.Create(context.Background(), kite); err != nil {
		t.Fatal(err)
	}
	old := kite.DeepCopy()
	_ = unstructured.SetNestedField(kite.Object, int64(4), "spec", "length")
	if err := c.Update(context.Background(), kite); err != nil {
		t.Fatal(err)
	}
	if err := c.Update(context.Background(), old); !apierrors.IsConflict(err) {
		t.Error(err)
	}
}

func TestServerSideApplyTracksOwners(t *testing.T) {
	t.Parallel()
	c := newClient(t, crdxtest.New(t, crdxtest.CRDs(crds)))
	apply := func(length int64, owner string) error {
		kite := newKite("a", map[string]any{"length": length})
		return c.Patch(context.Background(), kite, client.Apply, client.FieldOwner(owner))
	}
	if err := apply(3, "first"); err != nil {
		t.Fatal(err)
	}
	if err := apply(4, "second"); !apierrors.IsConflict(err) {
		t.Error(err)
	}
}

func TestBuiltInKindsAreServedToTypedClients(t *testing.T) {
	t.Parallel()
	clients, err := kubernetes.NewForConfig(crdxtest.New(t))
	if err != nil {
		t.Fatal(err)
	}
	pods := clients.CoreV1().Pods("default")
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "nginx:1"}}}}
	created, err := pods.Create(context.Background(), pod, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if created.Spec.RestartPolicy != corev1.RestartPolicyAlways || created.Status.QOSClass != corev1.PodQOSBestEffort {
		t.Errorf("%+v", created)
	}
	created.Spec.Containers[0].Name = ""
	if _, err := pods.Update(context.Background(), created, metav1.UpdateOptions{}); !apierrors.IsInvalid(err) {
		t.Error(err)
	}
}

func TestAWatchEndsWithItsClientAndAtItsTimeout(t *testing.T) {
	t.Parallel()
	clients, err := kubernetes.NewForConfig(crdxtest.New(t))
	if err != nil {
		t.Fatal(err)
	}
	seconds := int64(1)
	for _, options := range []metav1.ListOptions{{}, {TimeoutSeconds: &seconds}} {
		ctx, cancel := context.WithCancel(context.Background())
		watch, err := clients.CoreV1().ConfigMaps("default").Watch(ctx, options)
		if err != nil {
			t.Fatal(err)
		}
		if options.TimeoutSeconds == nil {
			cancel()
		}
		ended := time.After(10 * time.Second)
		for open := true; open; {
			select {
			case _, open = <-watch.ResultChan():
			case <-ended:
				t.Fatal("the watch goes on")
			}
		}
		cancel()
	}
}

// reconciler lets every Kite fly, and land before it is deleted.
type reconciler struct{ client.Client }

func (r reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	kite := newKite("", nil)
	if err := r.Get(ctx, request.NamespacedName, kite); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !kite.GetDeletionTimestamp().IsZero() {
		if controllerutil.RemoveFinalizer(kite, finalizer) {
			return reconcile.Result{}, r.Update(ctx, kite)
		}
		return reconcile.Result{}, nil
	}
	if controllerutil.AddFinalizer(kite, finalizer) {
		return reconcile.Result{}, r.Update(ctx, kite)
	}
	_ = unstructured.SetNestedField(kite.Object, "Flying", "status", "phase")
	return reconcile.Result{}, r.Status().Update(ctx, kite)
}

func TestAControllerWithACacheRunsUnchanged(t *testing.T) {
	t.Parallel()
	config_ := crdxtest.New(t, crdxtest.CRDs(crds))
	skip := true
	manager, err := ctrl.NewManager(config_, ctrl.Options{
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: &skip},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := ctrl.NewControllerManagedBy(manager).For(newKite("", nil)).Complete(reconciler{manager.GetClient()}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan error)
	go func() { stopped <- manager.Start(ctx) }()

	c := newClient(t, config_)
	if err := c.Create(ctx, newKite("a", map[string]any{"length": int64(3)})); err != nil {
		t.Fatal(err)
	}
	kite := newKite("", nil)
	eventually(t, func() error {
		if err := c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "a"}, kite); err != nil {
			return err
		}
		if phase, _, _ := unstructured.NestedString(kite.Object, "status", "phase"); phase != "Flying" {
			return errors.New("the kite does not fly")
		}
		return nil
	})
	if err := c.Delete(ctx, kite); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(kite), kite); !apierrors.IsNotFound(err) {
			return fmt.Errorf("the kite is still there: %w", err)
		}
		return nil
	})
	cancel()
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

func eventually(t *testing.T, check func() error) {
	t.Helper()
	var err error
	for range 500 {
		if err = check(); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal(err)
}

func BenchmarkStart(b *testing.B) {
	crdxtest.New(b)
	for b.Loop() {
		crdxtest.New(b, crdxtest.CRDs(crds))
	}
}

func BenchmarkCreate(b *testing.B) {
	c := newClient(b, crdxtest.New(b, crdxtest.CRDs(crds)))
	n := 0
	for b.Loop() {
		n++
		if err := c.Create(context.Background(), newKite(fmt.Sprintf("k%d", n), map[string]any{"length": int64(3)})); err != nil {
			b.Fatal(err)
		}
	}
}
