// Command cel-go does what ../cel.rs does, with cel-go as the API server sets it up.
//
// usage: cel-go CORPUS compile|evaluate|patterns ROUNDS
//
// It reads the CRDs and samples of some projects and prepares everything that is not measured; then it parses, checks and plans every rule
// (compile), or evaluates every rule on every node of the samples that has it (evaluate; patterns: only rules with regular expressions)
// ROUNDS times. Its one line of output says what was done; ../cel.py compares that with the other's and takes the CPU time.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/version"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
	"sigs.k8s.io/yaml"
)

var projects = []string{"gateway-api", "kueue", "karpenter-aws"}

// rule is one rule of a schema node, with its environment.
type rule struct {
	source   string
	optional bool
	env      *cel.Env
	program  cel.Program
}

// node is a schema node on the way to rules.
type node struct {
	schema     *schema.Structural
	rules      []*rule
	items      *node
	additional *node
	properties map[string]*node
}

// site is a rule where it applies.
type site struct {
	rule       *rule
	activation interpreter.Activation
}

type activation struct{ self, oldSelf ref.Val }

func (a *activation) ResolveName(name string) (any, bool) {
	switch name {
	case "self":
		return a.self, true
	case "oldSelf":
		return a.oldSelf, true
	}
	return nil, false
}

func (a *activation) Parent() interpreter.Activation { return nil }

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(2)
	}
}

func extend(base *environment.EnvSet, decl *apiservercel.DeclType, optional bool) *cel.Env {
	old := decl.CelType()
	if optional {
		old = types.NewOptionalType(old)
	}
	set, err := base.Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions:        []cel.EnvOption{cel.Variable("self", decl.CelType()), cel.Variable("oldSelf", old)},
		DeclTypes:         []*apiservercel.DeclType{decl},
	})
	check(err)
	return set.StoredExpressionsEnv()
}

func (r *rule) compile() cel.Program {
	ast, issues := r.env.Compile(r.source)
	check(issues.Err())
	program, err := r.env.Program(ast,
		cel.CostLimit(celconfig.PerCallLimit),
		cel.CostTracking(&library.CostEstimator{}),
		cel.InterruptCheckFrequency(celconfig.CheckFrequency))
	check(err)
	return program
}

func build(base *environment.EnvSet, s *schema.Structural, root bool, all *[]*rule) *node {
	n := &node{schema: s, properties: map[string]*node{}}
	if root {
		n.schema = model.WithTypeAndObjectMeta(s)
	}
	if len(s.XValidations) > 0 {
		decl := model.SchemaDeclType(s, root)
		if decl != nil {
			decl = decl.MaybeAssignTypeName("selfType0")
			for _, v := range s.XValidations {
				optional := v.OptionalOldSelf != nil && *v.OptionalOldSelf
				r := &rule{source: v.Rule, optional: optional, env: extend(base, decl, optional)}
				n.rules = append(n.rules, r)
				*all = append(*all, r)
			}
		}
	}
	if s.Items != nil {
		n.items = build(base, s.Items, s.Items.XEmbeddedResource, all)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil {
		child := s.AdditionalProperties.Structural
		n.additional = build(base, child, child.XEmbeddedResource, all)
	}
	for name, property := range s.Properties {
		child := property
		n.properties[name] = build(base, &child, child.XEmbeddedResource, all)
	}
	return n
}

func (n *node) visit(value any, out *[]site) {
	if value == nil {
		return
	}
	if len(n.rules) > 0 {
		self := schemacel.UnstructuredToVal(value, n.schema)
		for _, r := range n.rules {
			old := self
			if r.optional {
				old = types.OptionalOf(self)
			}
			*out = append(*out, site{r, &activation{self, old}})
		}
	}
	switch value := value.(type) {
	case []any:
		if n.items != nil {
			for _, item := range value {
				n.items.visit(item, out)
			}
		}
	case map[string]any:
		for name, member := range value {
			if n.additional != nil {
				n.additional.visit(member, out)
			}
			if child := n.properties[name]; child != nil {
				child.visit(member, out)
			}
		}
	}
}

func files(pattern string) []string {
	found, err := filepath.Glob(pattern)
	check(err)
	return found
}

func load(corpus string) ([]*rule, []site) {
	base := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
	kinds := map[string]*node{}
	var rules []*rule
	var sites []site
	for _, project := range projects {
		for _, file := range files(filepath.Join(corpus, project, "crds", "*.yaml")) {
			if strings.HasSuffix(file, ".experimental.yaml") {
				continue
			}
			text, err := os.ReadFile(file)
			check(err)
			var crd apiextensionsv1.CustomResourceDefinition
			check(yaml.Unmarshal(text, &crd))
			for _, v := range crd.Spec.Versions {
				var internal apiextensions.JSONSchemaProps
				check(apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v.Schema.OpenAPIV3Schema, &internal, nil))
				s, err := schema.NewStructural(&internal)
				check(err)
				kinds[crd.Spec.Group+"/"+v.Name+" "+crd.Spec.Names.Kind] = build(base, s, true, &rules)
			}
		}
		for _, r := range rules {
			if r.program == nil {
				r.program = r.compile()
			}
		}
		for _, file := range files(filepath.Join(corpus, project, "objects", "*.yaml")) {
			text, err := os.ReadFile(file)
			check(err)
			text, err = yaml.YAMLToJSON(text)
			check(err)
			var object map[string]any
			check(utiljson.Unmarshal(text, &object))
			if n := kinds[fmt.Sprint(object["apiVersion"], " ", object["kind"])]; n != nil {
				n.visit(object, &sites)
			}
		}
	}
	return rules, sites
}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: cel-go CORPUS compile|evaluate|patterns ROUNDS")
		os.Exit(2)
	}
	rounds, err := strconv.Atoi(os.Args[3])
	check(err)
	rules, sites := load(os.Args[1])
	if os.Args[2] == "compile" {
		done := 0
		for range rounds {
			for _, r := range rules {
				if r.compile() != nil {
					done++
				}
			}
		}
		fmt.Printf("%d rules compiled %d times\n", len(rules), done)
		return
	}
	if os.Args[2] == "patterns" {
		var some []site
		for _, s := range sites {
			if strings.Contains(s.rule.source, "matches(") || strings.Contains(s.rule.source, "find(") {
				some = append(some, s)
			}
		}
		sites = some
	}
	var yes, no, failed int
	var cost uint64
	ctx := context.Background()
	for range rounds {
		for _, s := range sites {
			value, details, err := s.rule.program.ContextEval(ctx, s.activation)
			cost += *details.ActualCost()
			switch {
			case err != nil:
				failed++
			case value == types.True:
				yes++
			default:
				no++
			}
		}
	}
	fmt.Printf("%d rules on nodes: %d true, %d false, %d failed, cost %d\n", len(sites), yes, no, failed, cost)
}
