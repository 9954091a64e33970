// Command cel reads expressions as JSON lines (the first line has a schema and samples) and writes what the CEL environment of
// this version of Kubernetes says of them: compile errors, types, estimates, results and costs of runs. From tests/apiserver:
//
//	go run facts/cel.go < ../facts/cel-cost.jsonl
//
// For another version, copy it into a module that requires k8s.io/apiextensions-apiserver, apimachinery and apiserver of that
// version; before 1.35, MustBaseEnvSet takes a second argument, true. Since 1.38, the module of cel-go is cel.dev/cel-go; stand-ins.sh
// prints the replace lines for a beta:
//
//	sed 's#github.com/google/cel-go#cel.dev/cel-go#; /go:build ignore/d' facts/cel.go > MODULE/main.go
//
//go:build ignore

package main

import (
	"bufio"
	"context"
	gojson "encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	celschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/version"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
)

type sizes struct{ root *apiservercel.DeclType }

func (c *sizes) EstimateSize(element checker.AstNode) *checker.SizeEstimate {
	if len(element.Path()) == 0 {
		return nil
	}
	n := c.root
	for _, name := range element.Path()[1:] {
		switch name {
		case "@items", "@values":
			if n.ElemType == nil {
				return nil
			}
			n = n.ElemType
		case "@keys":
			if n.KeyType == nil {
				return nil
			}
			n = n.KeyType
		default:
			field, ok := n.Fields[name]
			if !ok {
				return nil
			}
			if field.Type == nil {
				return nil
			}
			n = field.Type
		}
	}
	return &checker.SizeEstimate{Min: 0, Max: uint64(n.MaxElements)}
}

func (c *sizes) EstimateCallCost(function, overloadID string, target *checker.AstNode, args []checker.AstNode) *checker.CallEstimate {
	return nil
}

func walk(s *structuralschema.Structural, d *apiservercel.DeclType, at string) (*structuralschema.Structural, *apiservercel.DeclType) {
	if at == "root" || at == "" {
		return s, d
	}
	at = strings.ReplaceAll(strings.ReplaceAll(at, "[]", ".[]"), "{}", ".{}")
	for _, p := range strings.Split(at, ".") {
		switch p {
		case "[]":
			s, d = s.Items, d.ElemType
		case "{}":
			s, d = s.AdditionalProperties.Structural, d.ElemType
		default:
			c := s.Properties[p]
			f := d.Fields[p]
			if f == nil {
				esc, _ := apiservercel.Escape(p)
				f = d.Fields[esc]
			}
			s, d = &c, f.Type
		}
	}
	return s, d
}

func first(v interface{}, at string) (interface{}, bool) {
	if at == "root" || at == "" {
		return v, true
	}
	at = strings.ReplaceAll(strings.ReplaceAll(at, "[]", ".[]"), "{}", ".{}")
	for _, p := range strings.Split(at, ".") {
		switch p {
		case "[]":
			l, ok := v.([]interface{})
			if !ok || len(l) == 0 {
				return nil, false
			}
			v = l[0]
		case "{}":
			m, ok := v.(map[string]interface{})
			if !ok {
				return nil, false
			}
			least := ""
			for k := range m {
				if least == "" || k < least {
					least = k
				}
			}
			v = m[least]
		default:
			m, ok := v.(map[string]interface{})
			if !ok {
				return nil, false
			}
			v, ok = m[p]
			if !ok {
				return nil, false
			}
		}
	}
	return v, true
}

func show(v ref.Val) string {
	switch t := v.(type) {
	case types.Bool, types.Int, types.Uint:
		return fmt.Sprint(t.Value())
	case types.String:
		b, _ := gojson.Marshal(string(t))
		return "text " + string(b)
	}
	return "of type " + v.Type().TypeName()
}

var selfType = regexp.MustCompile(`selfType[0-9]+`)

func main() {
	ver := environment.DefaultCompatibilityVersion()
	base := environment.MustBaseEnvSet(ver)
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(make([]byte, 1<<20), 1<<26)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	var root *structuralschema.Structural
	var decl *apiservercel.DeclType
	var samples map[string]interface{}
	for in.Scan() {
		var f map[string]interface{}
		if err := json.Unmarshal(in.Bytes(), &f); err != nil {
			panic(err)
		}
		if s, ok := f["schema"]; ok {
			b, _ := gojson.Marshal(s)
			var v1 apiextv1.JSONSchemaProps
			if err := gojson.Unmarshal(b, &v1); err != nil {
				panic(err)
			}
			var internal apiext.JSONSchemaProps
			if err := apiextv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&v1, &internal, nil); err != nil {
				panic(err)
			}
			var err error
			root, err = structuralschema.NewStructural(&internal)
			if err != nil {
				panic(err)
			}
			decl = model.SchemaDeclType(root, true).MaybeAssignTypeName("selfType1")
			samples = f["samples"].(map[string]interface{})
			continue
		}
		expr := f["expr"].(string)
		at, ok := f["at"].(string)
		if !ok {
			at = "spec"
		}
		s, d := walk(root, decl, at)
		_ = s
		d = d.MaybeAssignTypeName("selfType1")
		old := d.CelType()
		_, optional := f["optionalOldSelf"]
		if optional {
			old = types.NewOptionalType(old)
		}
		set, err := base.Extend(environment.VersionedOptions{
			IntroducedVersion: version.MajorMinor(1, 0),
			EnvOptions:        []cel.EnvOption{cel.Variable("self", d.CelType()), cel.Variable("oldSelf", old)},
			DeclTypes:         []*apiservercel.DeclType{d},
		})
		if err != nil {
			panic(err)
		}
		env := set.NewExpressionsEnv()
		if f["env"] == "stored" {
			env = set.StoredExpressionsEnv()
		}
		o := map[string]interface{}{"expr": expr}
		for _, k := range []string{"at", "optionalOldSelf", "env"} {
			if v, ok := f[k]; ok {
				o[k] = v
			}
		}
		func() {
			defer func() {
				if r := recover(); r != nil {
					o["panic"] = fmt.Sprint(r)
				}
			}()
			ast, issues := env.Compile(expr)
			if issues != nil {
				o["compile_err"] = "compilation failed: " + selfType.ReplaceAllString(issues.String(), "selfTypeN")
				return
			}
			o["type"] = selfType.ReplaceAllString(ast.OutputType().String(), "selfTypeN")
			est := &library.CostEstimator{SizeEstimator: &sizes{root: d}}
			prog, err := env.Program(ast, cel.CostLimit(1000000), cel.CostTracking(est), cel.InterruptCheckFrequency(100))
			if err != nil {
				o["plan_err"] = err.Error()
				return
			}
			c, err := env.EstimateCost(ast, est)
			if err != nil {
				panic(err)
			}
			o["est_min"], o["est_max"] = c.Min, c.Max
			var runs []interface{}
			for _, name := range []string{"a", "b", "c"} {
				v, ok := first(samples[name], at)
				if !ok {
					continue
				}
				vars := map[string]interface{}{"self": celschema.UnstructuredToVal(v, s)}
				if ov, ok := first(samples["old"], at); ok && samples["old"] != nil {
					vars["oldSelf"] = celschema.UnstructuredToVal(ov, s)
					if optional {
						vars["oldSelf"] = types.OptionalOf(vars["oldSelf"].(ref.Val))
					}
				} else if optional {
					vars["oldSelf"] = types.OptionalNone
				} else {
					vars["oldSelf"] = types.NullValue
				}
				r := map[string]interface{}{"sample": name}
				func() {
					defer func() {
						if p := recover(); p != nil {
							r["panic"] = fmt.Sprint(p)
						}
					}()
					val, details, err := prog.ContextEval(context.Background(), vars)
					if details != nil && details.ActualCost() != nil {
						r["cost"] = *details.ActualCost()
					}
					if err != nil {
						r["err"] = selfType.ReplaceAllString(err.Error(), "selfTypeN")
						return
					}
					r["value"] = show(val)
				}()
				runs = append(runs, r)
			}
			o["runs"] = runs
		}()
		b, err := gojson.Marshal(o)
		if err != nil {
			panic(err)
		}
		out.Write(b)
		out.WriteByte('\n')
	}
}
