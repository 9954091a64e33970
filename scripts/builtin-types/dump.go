package main

import (
	"encoding"
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	admissionv1beta1 "k8s.io/api/admission/v1beta1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	apiregistrationv1beta1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1beta1"
)

// selfRead are the types with their own UnmarshalJSON that crates/crdx-types/src/custom.rs knows.
var selfRead = []string{
	"apiextensions/v1.JSON", "apiextensions/v1.JSONSchemaPropsOrArray", "apiextensions/v1.JSONSchemaPropsOrBool", "apiextensions/v1.JSONSchemaPropsOrStringArray",
	"apiextensions/v1beta1.JSON", "apiextensions/v1beta1.JSONSchemaPropsOrArray", "apiextensions/v1beta1.JSONSchemaPropsOrBool", "apiextensions/v1beta1.JSONSchemaPropsOrStringArray",
	"intstr.IntOrString", "meta/v1.Duration", "meta/v1.FieldsV1", "meta/v1.MicroTime", "meta/v1.Time", "resource.Quantity", "runtime.RawExtension",
}

// notServed are registered kinds that are the body of no request.
var notServed = []string{"List", "PodStatusResult", "RangeAllocation", "RangeAllocationList", "SerializedReference"}

// definitions are CRDs. They are not built-in kinds here: the CRD server serves them.
var definitions = []any{apiextensionsv1.CustomResourceDefinition{}, apiextensionsv1beta1.CustomResourceDefinition{}}

// reviews are the reviews that webhooks answer. They are not kinds of objects.
var reviews = []any{admissionv1.AdmissionReview{}, admissionv1beta1.AdmissionReview{}, apiextensionsv1.ConversionReview{}, apiextensionsv1beta1.ConversionReview{}}

func dump() release {
	r := release{Minor: minor(), Kinds: map[string]kind{}, Types: map[string]typeInfo{}}
	source := readSource()
	// The aggregator, which is part of every API server, serves these.
	check(apiregistrationv1.AddToScheme(scheme.Scheme))
	check(apiregistrationv1beta1.AddToScheme(scheme.Scheme))
	for gvk, t := range scheme.Scheme.AllKnownTypes() {
		if gvk.Version == runtime.APIVersionInternal {
			continue
		}
		r.Kinds[gvk.GroupVersion().String()+" "+gvk.Kind] = kindOf(gvk, t, source, r.Minor)
		r.walk(t, source)
	}
	for _, unregistered := range slices.Concat(reviews, definitions) {
		r.walk(reflect.TypeOf(unregistered), source)
	}
	return r
}

// minor is the release of the k8s.io/api that is built in: 37.
func minor() int {
	info, _ := debug.ReadBuildInfo()
	for _, d := range info.Deps {
		var n int
		if d.Path == "k8s.io/api" {
			fmt.Sscanf(d.Version, "v0.%d.", &n)
			return n
		}
	}
	check(fmt.Errorf("k8s.io/api is not built in"))
	return 0
}

func kindOf(gvk schema.GroupVersionKind, t reflect.Type, source *source, minor int) kind {
	k := kind{Type: typeName(t)}
	o := reflect.New(t).Interface()
	version := func(major, minor int) string { return fmt.Sprintf("%d.%d", major, minor) }
	if ro, ok := o.(runtime.Object); ok {
		k.AnyVersion, _ = scheme.Scheme.IsUnversioned(ro)
	}
	// Client-go's scheme knows these, but no supported release serves them.
	onlyV1 := gvk.Group == "apps" || gvk.Group == "apiregistration.k8s.io"
	k.Served = gvk.Group != "extensions" && (!onlyV1 || gvk.Version == "v1") && gvk.Group != "imagepolicy.k8s.io"
	if r, ok := o.(interface{ APILifecycleIntroduced() (int, int) }); ok {
		k.Introduced = version(r.APILifecycleIntroduced())
	}
	if r, ok := o.(interface{ APILifecycleDeprecated() (int, int) }); ok {
		k.Deprecated = version(r.APILifecycleDeprecated())
	}
	if r, ok := o.(interface{ APILifecycleRemoved() (int, int) }); ok {
		major, m := r.APILifecycleRemoved()
		k.Removed = version(major, m)
		k.Served = k.Served && (major > 1 || m > minor)
	}
	if r, ok := o.(interface {
		APILifecycleReplacement() schema.GroupVersionKind
	}); ok {
		instead := r.APILifecycleReplacement()
		k.Instead = instead.GroupVersion().String() + " " + instead.Kind
	}
	if strings.HasPrefix(t.PkgPath(), "k8s.io/apimachinery/") || strings.HasSuffix(gvk.Kind, "Options") || slices.Contains(notServed, gvk.Kind) {
		k.Served = false
	}
	k.Cluster = k.Served && source.has(k.Type, "genclient:nonNamespaced")
	return k
}

func (r *release) walk(t reflect.Type, source *source) {
	if t.Name() == "" {
		switch t.Kind() {
		case reflect.Map:
			r.walk(t.Key(), source)
			r.walk(t.Elem(), source)
		case reflect.Pointer, reflect.Slice, reflect.Array:
			r.walk(t.Elem(), source)
		}
		return
	}
	name := typeName(t)
	if _, done := r.Types[name]; done || t.PkgPath() == "" {
		return
	}
	info := typeInfo{Enum: source.enum(name), Custom: isCustom(t), Atomic: isAtomic(source.values[name])}
	r.Types[name] = info
	switch {
	case info.Custom:
		if !slices.Contains(selfRead, name) {
			check(fmt.Errorf("%s has an UnmarshalJSON that crates/crdx-types/src/custom.rs does not know", name))
		}
	case t.Kind() == reflect.Struct:
		info.Fields = r.fields(t, name, source)
	case t.Kind() == reflect.Map:
		info.Of = "map[" + typeName(t.Key()) + "]" + typeName(t.Elem())
		r.walk(t.Key(), source)
		r.walk(t.Elem(), source)
	case t.Kind() == reflect.Slice:
		info.Of = "[]" + typeName(t.Elem())
		r.walk(t.Elem(), source)
	default:
		info.Of = t.Kind().String()
	}
	r.Types[name] = info
}

// fields are those that JSON sees.
func (r *release) fields(t reflect.Type, name string, source *source) []field {
	var all []field
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		if tag == "-" || !f.IsExported() && !f.Anonymous {
			continue
		}
		parts := strings.Split(tag, ",")
		x := field{Name: parts[0], Type: typeName(f.Type)}
		for _, option := range parts[1:] {
			switch option {
			case "omitempty":
				x.Flags += flagOmit
			case "omitzero":
				x.Flags += flagZero
			case "inline", "":
			default:
				check(fmt.Errorf("%s.%s: the option %q of its tag is unknown", name, f.Name, option))
			}
		}
		if x.Name == "" {
			x.Name = f.Name
			if f.Anonymous {
				x.Flags += flagInline
			}
		}
		for marker, flag := range map[string]string{"optional": flagOptional, "required": flagRequired, "default": flagDefault} {
			if source.has(name+"."+f.Name, marker) {
				x.Flags += flag
			}
		}
		sorted := []byte(x.Flags)
		slices.Sort(sorted)
		x.Flags = string(sorted)
		x.Merge = merging(f.Tag, source, name+"."+f.Name)
		all = append(all, x)
		r.walk(f.Type, source)
	}
	return all
}

func isAtomic(markers map[string][]string) bool {
	return slices.Contains(markers["structType"], "atomic") || slices.Contains(markers["mapType"], "atomic")
}

// merging are the words for how patches and applies merge a field: its number in Protobuf messages (n), the tags of strategic merge patches (ps, pk), the markers of
// lists and maps (lt, lk, mt), and its default (d, up to the end of the line).
func merging(tag reflect.StructTag, source *source, field string) string {
	var words []string
	if parts := strings.Split(tag.Get("protobuf"), ","); len(parts) > 1 {
		words = append(words, "n="+parts[1])
	}
	word := func(key, value string) {
		if value != "" {
			words = append(words, key+"="+value)
		}
	}
	markers := source.values[field]
	word("ps", tag.Get("patchStrategy"))
	word("pk", tag.Get("patchMergeKey"))
	word("lt", strings.Join(markers["listType"], ","))
	word("lk", strings.Join(markers["listMapKey"], ","))
	switch {
	case isAtomic(markers):
		word("mt", "atomic")
	case slices.Contains(markers["structType"], "granular") || slices.Contains(markers["mapType"], "granular"):
		word("mt", "granular")
	}
	if values := markers["default"]; len(values) > 0 {
		word("d", source.constant(values[0], field))
	}
	return strings.Join(words, " ")
}

var (
	unmarshaler     = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

func isCustom(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return t.Kind() != reflect.Interface && (p.Implements(unmarshaler) || p.Implements(textUnmarshaler))
}

// packageName shortens an import path: core/v1, meta/v1, resource, intstr.
func packageName(importPath string) string {
	for _, prefix := range []string{"k8s.io/api/", "k8s.io/apimachinery/pkg/apis/", "k8s.io/kube-aggregator/pkg/apis/", "k8s.io/apiextensions-apiserver/pkg/apis/", "k8s.io/apiextensions-api/pkg/apis/"} {
		if rest, ok := strings.CutPrefix(importPath, prefix); ok {
			return rest
		}
	}
	return path.Base(importPath)
}

func typeName(t reflect.Type) string {
	if t.Name() != "" {
		if t.PkgPath() == "" {
			return t.Name()
		}
		return packageName(t.PkgPath()) + "." + t.Name()
	}
	switch t.Kind() {
	case reflect.Pointer:
		return "*" + typeName(t.Elem())
	case reflect.Slice:
		return "[]" + typeName(t.Elem())
	case reflect.Map:
		return "map[" + typeName(t.Key()) + "]" + typeName(t.Elem())
	}
	check(fmt.Errorf("the type %s is of no known kind", t))
	return ""
}
