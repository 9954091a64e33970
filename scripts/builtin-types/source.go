package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// source is what only the Go source tells: +markers of types and of fields (as Type.Field), and string constants by type.
type source struct {
	markers   map[string]map[string]bool
	values    map[string]map[string][]string // of markers with a value, without those of declarative validation (+k8s:)
	constants map[string][]string
	named     map[string]string // string constants by package and name
}

func (s *source) has(name, marker string) bool { return s.markers[name][marker] }

// enum are the values of a type that the published OpenAPI limits to its constants.
func (s *source) enum(name string) []string {
	if !s.has(name, "enum") {
		return nil
	}
	values := slices.Clone(s.constants[name])
	slices.Sort(values)
	return slices.Compact(values)
}

// readSource reads the modules whose types are dumped.
func readSource() *source {
	s := &source{map[string]map[string]bool{}, map[string]map[string][]string{}, map[string][]string{}, map[string]string{}}
	// Since 1.38, k8s.io/apiextensions-api declares the types of CRDs; older releases do not have this module.
	modules := []string{"k8s.io/api", "k8s.io/apiextensions-api", "k8s.io/apiextensions-apiserver", "k8s.io/apimachinery", "k8s.io/kube-aggregator"}
	out, err := exec.Command("go", append([]string{"list", "-m", "-e", "-f", "{{if .Dir}}{{.Path}} {{.Dir}}{{end}}"}, modules...)...).Output()
	check(err)
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		module, dir, _ := strings.Cut(line, " ")
		check(filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && d.Name() == "testdata":
				return filepath.SkipDir
			case d.IsDir(), !strings.HasSuffix(p, ".go"), strings.HasSuffix(p, "_test.go"), strings.HasSuffix(p, ".pb.go"), strings.HasPrefix(d.Name(), "zz_"):
				return nil
			}
			relative, err := filepath.Rel(dir, filepath.Dir(p))
			if err != nil {
				return err
			}
			return s.file(p, packageName(module+"/"+filepath.ToSlash(relative)))
		}))
	}
	return s
}

func (s *source) file(path, pkg string) error {
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	var end token.Pos
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok {
			end = d.End()
			continue
		}
		for _, spec := range g.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				// Markers may also be in comments that are apart from the type's own.
				for _, c := range f.Comments {
					if c.Pos() > end && c.End() <= spec.Pos() {
						s.mark(pkg+"."+spec.Name.Name, c)
					}
				}
				if st, ok := spec.Type.(*ast.StructType); ok {
					for _, fl := range st.Fields.List {
						for _, name := range fieldNames(fl) {
							s.mark(pkg+"."+spec.Name.Name+"."+name, fl.Doc)
						}
					}
				}
				end = spec.End()
			case *ast.ValueSpec:
				if t, ok := spec.Type.(*ast.Ident); ok && g.Tok == token.CONST {
					s.add(pkg+"."+t.Name, spec.Values)
				}
				for i, name := range spec.Names {
					if i < len(spec.Values) && g.Tok == token.CONST {
						if b, ok := spec.Values[i].(*ast.BasicLit); ok && b.Kind == token.STRING {
							s.named[pkg+"."+name.Name] = b.Value
						}
					}
				}
			}
		}
		end = g.End()
	}
	return nil
}

// add keeps constants of type name that are written as strings.
func (s *source) add(name string, values []ast.Expr) {
	for _, v := range values {
		if b, ok := v.(*ast.BasicLit); ok && b.Kind == token.STRING {
			if text, err := strconv.Unquote(b.Value); err == nil {
				s.constants[name] = append(s.constants[name], text)
			}
		}
	}
}

// constant is a default as JSON; ref(Name) is a constant of the field's package.
func (s *source) constant(value, field string) string {
	name, ok := strings.CutPrefix(value, "ref(")
	if !ok {
		return value
	}
	pkg, _, _ := strings.Cut(field, ".")
	text, ok := s.named[pkg+"."+strings.TrimSuffix(name, ")")]
	if !ok {
		check(fmt.Errorf("%s has the unknown default %s", field, value))
	}
	return text
}

// fieldNames are the Go names of a field; that of an embedded one is its type's.
func fieldNames(f *ast.Field) []string {
	var names []string
	for _, n := range f.Names {
		names = append(names, n.Name)
	}
	if len(names) > 0 {
		return names
	}
	e := f.Type
	if p, ok := e.(*ast.StarExpr); ok {
		e = p.X
	}
	if sel, ok := e.(*ast.SelectorExpr); ok {
		e = sel.Sel
	}
	if id, ok := e.(*ast.Ident); ok {
		return []string{id.Name}
	}
	return nil
}

// mark keeps the markers of a comment. Its lines are read one by one: CommentGroup.Text leaves out some of them.
func (s *source) mark(name string, comment *ast.CommentGroup) {
	if comment == nil {
		return
	}
	for _, c := range comment.List {
		for _, line := range strings.Split(strings.TrimSuffix(strings.TrimLeft(c.Text, "/*"), "*/"), "\n") {
			rest, ok := strings.CutPrefix(strings.TrimSpace(line), "+")
			if !ok {
				continue
			}
			if key, value, ok := strings.Cut(rest, "="); ok && !slices.Contains(s.values[name][key], value) {
				if s.values[name] == nil {
					s.values[name] = map[string][]string{}
				}
				s.values[name][key] = append(s.values[name][key], value)
			}
			marker, _, _ := strings.Cut(strings.TrimPrefix(rest, "k8s:"), "=")
			if s.markers[name] == nil {
				s.markers[name] = map[string]bool{}
			}
			s.markers[name][marker] = true
		}
	}
}
