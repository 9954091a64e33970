package main

import (
	"bufio"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// printed are the internal types that error messages of validation show, and JSON and Go syntax print with all their fields. The table has
// them and the types that they contain.
var printed = []string{
	"apps.DaemonSetUpdateStrategy", "apps.DeploymentStrategy", "apps.StatefulSetUpdateStrategy", "batch.PodFailurePolicy", "batch.SuccessPolicy",
	"certificates.PodCertificateRequestSpec",
	"core.Container", "core.EventSource", "core.NodeAddress", "core.NodeAffinity", "core.NodeConfigSource", "core.ObjectReference", "core.Taint", "core.PersistentVolumeClaim", "core.PersistentVolumeSource", "core.PodTemplateSpec", "core.ScopeSelector", "core.VolumeNodeAffinity",
	"flowcontrol.FlowSchemaSpec", "flowcontrol.PriorityLevelConfigurationSpec", "networking.ParentReference", "networking.ServiceCIDRSpec",
	"resource.AllocationResult", "resource.ResourceClaimSpec", "resource.ResourceClaimTemplateSpec", "resource.DeviceAttribute",
	"storage.CSINodeDriver", "storage.VolumeAttachmentSpec",
	"meta/v1.LabelSelector", "networking.IngressRule", "policy.PodDisruptionBudgetSpec", "rbac.RoleRef", "storage.TokenRequest", "storage.VolumeLifecycleMode",
}

// versions are the versioned packages whose JSON names the fields of an internal package have.
var versions = map[string]string{
	"apps": "apps/v1", "autoscaling": "autoscaling/v2", "batch": "batch/v1", "certificates": "certificates/v1", "core": "core/v1", "flowcontrol": "flowcontrol/v1", "networking": "networking/v1", "node": "node/v1", "policy": "policy/v1",
	"rbac": "rbac/v1", "resource": "resource/v1", "storage": "storage/v1",
}

// elsewhere are fields that the newest versioned type does not have, with their JSON names in older ones or in the struct above (^).
var elsewhere = map[string]string{
	"core.ClaimSource.ResourceClaimName": "resourceClaimName", "core.ClaimSource.ResourceClaimTemplateName": "resourceClaimTemplateName",
	"core.PodResourceClaim.Source": "source", "core.PodSpec.WorkloadRef": "workloadRef",
	"core.WorkloadReference.Name": "name", "core.WorkloadReference.PodGroup": "podGroup", "core.WorkloadReference.PodGroupReplicaKey": "podGroupReplicaKey",
	"core.PodSecurityContext.HostNetwork": "^hostNetwork", "core.PodSecurityContext.HostPID": "^hostPID", "core.PodSecurityContext.HostIPC": "^hostIPC",
	"core.PodSecurityContext.ShareProcessNamespace": "^shareProcessNamespace", "core.PodSecurityContext.HostUsers": "^hostUsers",
}

// goType is a named type as the source declares it.
type goType struct {
	of     string // the expression of its type if it is not a struct
	fields []goField
}

// goField is a field of a struct; that of an embedded struct has the name of the struct.
type goField struct {
	name, of string
	embedded bool
	tag      []string // the parts of its json tag
}

// internal writes the table that crates/crdx-builtin/src/validation/internal/table.rs reads, from the sources of Kubernetes and of the modules in go.mod.
func internal(w io.Writer, dirs []string) error {
	api, err := packages("k8s.io/api", slices.Sorted(maps.Values(versions)))
	if err != nil {
		return err
	}
	meta, err := packages("k8s.io/apimachinery", []string{"pkg/apis/meta/v1"})
	if err != nil {
		return err
	}
	types := map[string][]row{}
	heads := map[string][]row{}
	var minors []int
	var all uint64
	for _, dir := range dirs {
		var minor int
		if _, err := fmt.Sscanf(filepath.Base(dir), "kubernetes@v1.%d.", &minor); err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
		minors = append(minors, minor)
		all |= 1 << minor
	}
	for i, dir := range slices.Backward(dirs) {
		found := map[string]goType{}
		for name := range versions {
			if err := readPackage(filepath.Join(dir, "pkg/apis", name), name, found); err != nil {
				return err
			}
		}
		for name, t := range meta {
			found[name] = t
		}
		seen := map[string]bool{}
		var visit func(name string) error
		visit = func(name string) error {
			t, ok := found[name]
			if seen[name] || opaque(name) {
				return nil
			}
			if !ok {
				return fmt.Errorf("%s: there is no type %s", dir, name)
			}
			seen[name] = true
			bit := uint64(1) << minors[i]
			heads[name] = addRows(heads[name], []string{strings.TrimSuffix(name+" "+t.of, " ")}, bit)
			var lines []string
			for _, f := range t.fields {
				lines = append(lines, internalField(name, f, found, api))
				for _, next := range named(f.of) {
					if err := visit(next); err != nil {
						return err
					}
				}
			}
			types[name] = addRows(types[name], lines, bit)
			for _, next := range named(t.of) {
				if err := visit(next); err != nil {
					return err
				}
			}
			return nil
		}
		for _, name := range printed {
			if _, ok := found[name]; !ok {
				continue // newer than this release
			}
			if err := visit(name); err != nil {
				return err
			}
		}
	}
	out := bufio.NewWriter(w)
	defer out.Flush()
	fmt.Fprintf(out, "# Made by scripts/builtin-types from Kubernetes 1.%d to 1.%d; crates/crdx-builtin/src/validation/internal/table.rs describes the format.\n", slices.Min(minors), slices.Max(minors))
	for _, name := range slices.Sorted(maps.Keys(heads)) {
		if len(heads[name]) != 1 {
			return fmt.Errorf("%s is not one type in all releases", name)
		}
		for _, x := range append(heads[name], types[name]...) {
			indent := " "
			if x.text == heads[name][0].text {
				indent = ""
			}
			when, err := span(x.in, all, slices.Min(minors), slices.Max(minors))
			if err != nil {
				return fmt.Errorf("%s: %s: %w", name, x.text, err)
			}
			fmt.Fprintf(out, "%s%s%s\n", indent, x.text, when)
		}
	}
	return nil
}

// addRows adds the rows of an older release, so that the rows of every release keep their order. A row that has moved is another row.
func addRows(rows []row, lines []string, bit uint64) []row {
	// The longest common subsequence, from the end.
	length := make([][]int, len(rows)+1)
	for i := range length {
		length[i] = make([]int, len(lines)+1)
	}
	for i := len(rows) - 1; i >= 0; i-- {
		for j := len(lines) - 1; j >= 0; j-- {
			if rows[i].text == lines[j] {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	var out []row
	i, j := 0, 0
	for i < len(rows) || j < len(lines) {
		switch {
		case i < len(rows) && j < len(lines) && rows[i].text == lines[j]:
			out = append(out, row{lines[j], rows[i].in | bit})
			i, j = i+1, j+1
		case j == len(lines) || i < len(rows) && length[i+1][j] >= length[i][j+1]:
			out = append(out, rows[i])
			i++
		default:
			out = append(out, row{lines[j], bit})
			j++
		}
	}
	return out
}

// internalField is the line of a field: its Go name, its type, its JSON name in the versioned type (- for none), and flags.
func internalField(owner string, f goField, internal, api map[string]goType) string {
	flags := ""
	if f.embedded {
		flags += flagInline
	}
	key := ""
	if len(f.tag) > 0 {
		key = f.tag[0]
		// Its JSON has the name of the tag, and not the Go name.
		if key != "" {
			flags += "t"
		}
		for _, option := range f.tag[1:] {
			switch option {
			case "omitempty":
				flags += flagOmit
			case "omitzero":
				flags += flagZero
			}
		}
	}
	if at, ok := elsewhere[owner+"."+f.name]; ok {
		key = at
	}
	pkg, name, _ := strings.Cut(owner, ".")
	if key == "" && !f.embedded {
		key = "-"
		for _, versioned := range api[versions[pkg]+"."+name].fields {
			if versioned.name == f.name {
				key = versioned.tag[0]
			} else if versioned.embedded && key == "-" {
				for _, inner := range api[strings.TrimPrefix(versioned.of, "*")].fields {
					if inner.name == f.name {
						key = inner.tag[0]
					}
				}
			}
		}
	}
	if key == "" {
		key = "-"
	}
	return strings.TrimSpace(strings.Join([]string{f.name, local(f.of, owner), key, flags}, " "))
}

// opaque are the types without fields in the table.
func opaque(name string) bool {
	_, isBasic := map[string]bool{"string": true, "bool": true, "int": true, "int32": true, "int64": true, "uint32": true, "uint8": true, "byte": true, "float64": true}[name]
	return isBasic || slices.Contains(append(selfRead, "runtime.Object", "types.NodeName", "types.UID"), name)
}

// named are the named types of a type expression.
func named(expression string) []string {
	if expression == "" {
		return nil
	}
	var out []string
	for _, part := range strings.FieldsFunc(expression, func(r rune) bool { return r == '*' || r == '[' || r == ']' }) {
		if part != "map" {
			out = append(out, part)
		}
	}
	return out
}

// packages reads packages of a module in go.mod.
func packages(module string, folders []string) (map[string]goType, error) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return nil, err
	}
	types := map[string]goType{}
	for _, folder := range folders {
		if err := readPackage(filepath.Join(strings.TrimSpace(string(dir)), folder), packageName(module+"/"+folder), types); err != nil {
			return nil, err
		}
	}
	return types, nil
}

// readPackage reads the named types of a package.
func readPackage(dir, pkg string, types map[string]goType) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return err
	}
	for _, path := range files {
		base := filepath.Base(path)
		if strings.HasSuffix(base, "_test.go") || strings.HasPrefix(base, "zz_") || strings.HasSuffix(base, ".pb.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		imports := map[string]string{}
		for _, i := range f.Imports {
			importPath, _ := strconv.Unquote(i.Path.Value)
			name := importPath[strings.LastIndex(importPath, "/")+1:]
			if i.Name != nil {
				name = i.Name.Name
			}
			imports[name] = strings.TrimPrefix(packageName(importPath), "k8s.io/kubernetes/pkg/apis/")
		}
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.TYPE {
				continue
			}
			for _, spec := range g.Specs {
				spec := spec.(*ast.TypeSpec)
				types[pkg+"."+spec.Name.Name] = readType(spec.Type, pkg, imports)
			}
		}
	}
	return nil
}

func readType(e ast.Expr, pkg string, imports map[string]string) goType {
	s, ok := e.(*ast.StructType)
	if !ok {
		return goType{of: expression(e, pkg, imports)}
	}
	t := goType{}
	for _, f := range s.Fields.List {
		var tag []string
		if f.Tag != nil {
			text, _ := strconv.Unquote(f.Tag.Value)
			if json, ok := reflect.StructTag(text).Lookup("json"); ok {
				tag = strings.Split(json, ",")
			}
		}
		if len(tag) > 0 && tag[0] == "-" {
			continue
		}
		for _, name := range fieldNames(f) {
			t.fields = append(t.fields, goField{name, expression(f.Type, pkg, imports), len(f.Names) == 0, tag})
		}
	}
	return t
}

// expression is a type with the names of packages that the table has: []core.Container.
func expression(e ast.Expr, pkg string, imports map[string]string) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return "*" + expression(e.X, pkg, imports)
	case *ast.ArrayType:
		return "[]" + expression(e.Elt, pkg, imports)
	case *ast.MapType:
		return "map[" + expression(e.Key, pkg, imports) + "]" + expression(e.Value, pkg, imports)
	case *ast.SelectorExpr:
		return imports[e.X.(*ast.Ident).Name] + "." + e.Sel.Name
	case *ast.Ident:
		if ast.IsExported(e.Name) {
			return pkg + "." + e.Name
		}
		return e.Name
	}
	return ""
}
