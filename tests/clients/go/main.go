// Command crdx-clients uses client-go's dynamic client and informers, and controller-runtime's client, cache and manager,
// against a server that is not told from the real one.
//
// usage: crdx-clients URL
package main

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const finalizer = "toys.example.com/landed"

var (
	crds  = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	kites = schema.GroupVersionResource{Group: "toys.example.com", Version: "v1", Resource: "gokites"}
	kind  = schema.GroupVersionKind{Group: "toys.example.com", Version: "v1", Kind: "GoKite"}
)

func must[T any](v T, err error) T {
	if err != nil {
		fmt.Println("FAILED:", err)
		os.Exit(1)
	}
	return v
}

func expect(what string, ok bool) {
	if !ok {
		fmt.Println("FAILED:", what)
		os.Exit(1)
	}
	fmt.Println("ok:", what)
}

func soon(what string, check func() bool) {
	for i := 0; i < 300; i++ {
		if check() {
			expect(what, true)
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	expect(what, false)
}

type object = map[string]any

func definition() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: object{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": object{"name": "gokites.toys.example.com"},
		"spec": object{"group": kites.Group, "scope": "Namespaced", "names": object{"plural": kites.Resource, "kind": kind.Kind},
			"versions": []any{object{"name": "v1", "served": true, "storage": true, "subresources": object{"status": object{}},
				"schema": object{"openAPIV3Schema": object{"type": "object", "properties": object{
					"spec":   object{"type": "object", "properties": object{"length": object{"type": "integer", "minimum": int64(1)}}},
					"status": object{"type": "object", "properties": object{"flying": object{"type": "integer"}}}}}}}}},
	}}
}

func kite(name string, length int64) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: object{"apiVersion": "toys.example.com/v1", "kind": kind.Kind,
		"metadata": object{"name": name, "namespace": "default"}, "spec": object{"length": length}}}
}

type reconciler struct {
	client  client.Client
	cleaned atomic.Int32
}

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(kind)
	if err := r.client.Get(ctx, request.NamespacedName, o); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !o.GetDeletionTimestamp().IsZero() {
		if controllerutil.RemoveFinalizer(o, finalizer) {
			r.cleaned.Add(1)
			return ctrl.Result{}, r.client.Update(ctx, o)
		}
		return ctrl.Result{}, nil
	}
	if controllerutil.AddFinalizer(o, finalizer) {
		return ctrl.Result{}, r.client.Update(ctx, o)
	}
	length, _, _ := unstructured.NestedInt64(o.Object, "spec", "length")
	if flying, _, _ := unstructured.NestedInt64(o.Object, "status", "flying"); flying != length {
		_ = unstructured.SetNestedField(o.Object, length, "status", "flying")
		return ctrl.Result{}, r.client.Status().Update(ctx, o)
	}
	return ctrl.Result{}, nil
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	config := &rest.Config{Host: os.Args[1], QPS: 1000, Burst: 1000}
	disco := discovery.NewDiscoveryClientForConfigOrDie(config)
	fmt.Println("server", must(disco.ServerVersion()).GitVersion)
	dyn := dynamic.NewForConfigOrDie(config)
	must(dyn.Resource(crds).Create(ctx, definition(), metav1.CreateOptions{}))
	soon("discovery tells of the resource", func() bool {
		list, err := disco.ServerResourcesForGroupVersion("toys.example.com/v1")
		return err == nil && len(list.APIResources) == 2
	})
	objects := dyn.Resource(kites).Namespace("default")
	soon("objects are served", func() bool { _, err := objects.List(ctx, metav1.ListOptions{}); return err == nil })

	// Informers: a list, then a watch.
	var added, updated, deleted atomic.Int32
	factory := dynamicinformer.NewDynamicSharedInformerFactory(dyn, 0)
	informer := factory.ForResource(kites).Informer()
	must(informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { added.Add(1) },
		UpdateFunc: func(any, any) { updated.Add(1) },
		DeleteFunc: func(any) { deleted.Add(1) },
	}))
	factory.Start(ctx.Done())
	expect("the informer is in step", cache.WaitForCacheSync(ctx.Done(), informer.HasSynced))
	for i, name := range []string{"a", "b", "c"} {
		must(objects.Create(ctx, kite(name, int64(i+1)), metav1.CreateOptions{}))
	}
	_, err := objects.Create(ctx, kite("bad", 0), metav1.CreateOptions{})
	expect("a length of 0 is invalid", apierrors.IsInvalid(err))
	_, err = objects.Create(ctx, kite("a", 1), metav1.CreateOptions{})
	expect("a second create is told apart", apierrors.IsAlreadyExists(err))
	old := must(objects.Get(ctx, "a", metav1.GetOptions{}))
	must(objects.Patch(ctx, "a", types.MergePatchType, []byte(`{"spec":{"length":5}}`), metav1.PatchOptions{}))
	_, err = objects.Update(ctx, old, metav1.UpdateOptions{})
	expect("an old resourceVersion is a conflict", apierrors.IsConflict(err))
	must(objects.Apply(ctx, "b", kite("b", 8), metav1.ApplyOptions{FieldManager: "go", Force: true}))
	expect("a delete", objects.Delete(ctx, "c", metav1.DeleteOptions{}) == nil)
	soon("the informer saw all of it", func() bool { return added.Load() == 3 && updated.Load() == 2 && deleted.Load() == 1 })

	// A controller with finalizers, on controller-runtime's manager.
	manager := must(ctrl.NewManager(config, ctrl.Options{Metrics: server.Options{BindAddress: "0"}, HealthProbeBindAddress: "0"}))
	r := &reconciler{client: manager.GetClient()}
	watched := &unstructured.Unstructured{}
	watched.SetGroupVersionKind(kind)
	must(0, ctrl.NewControllerManagedBy(manager).Named("kites").For(watched).Complete(r))
	go func() { must(0, manager.Start(ctx)) }()
	soon("the controller wrote every status, under its finalizer", func() bool {
		list := must(objects.List(ctx, metav1.ListOptions{}))
		for _, o := range list.Items {
			length, _, _ := unstructured.NestedInt64(o.Object, "spec", "length")
			flying, _, _ := unstructured.NestedInt64(o.Object, "status", "flying")
			if length != flying || len(o.GetFinalizers()) != 1 {
				return false
			}
		}
		return len(list.Items) == 2
	})
	expect("another delete", objects.Delete(ctx, "a", metav1.DeleteOptions{}) == nil)
	soon("the controller let go of it", func() bool {
		_, err := objects.Get(ctx, "a", metav1.GetOptions{})
		return apierrors.IsNotFound(err) && r.cleaned.Load() == 1
	})
	soon("the informer forgot it", func() bool { return deleted.Load() == 2 })
}
