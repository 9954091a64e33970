package main

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// row is a line of the table, and the releases that have it.
type row struct {
	text string
	in   uint64
}

// span says in which of the releases from first to last a row is: nothing if in all that the row above it is in, else @31-34,
// @-34 or @31.
func span(in, above uint64, first, last int) (string, error) {
	if in == above {
		return "", nil
	}
	from, to := 0, 0
	for n := first; n <= last; n++ {
		if in&(1<<n) == 0 {
			continue
		}
		if from == 0 {
			from = n
		} else if to != n-1 {
			return "", fmt.Errorf("releases have it, then not, then again: %b", in)
		}
		to = n
	}
	switch {
	case from == first:
		return fmt.Sprintf(" @-%d", to), nil
	case to == last:
		return fmt.Sprintf(" @%d", from), nil
	}
	return fmt.Sprintf(" @%d-%d", from, to), nil
}

// rows joins the rows of releases in the order of the newest; a row that only older ones have comes behind the row before it.
func rows(releases []release, of func(release) []string) []row {
	var out []row
	for _, r := range slices.Backward(releases) {
		at := 0
		for _, text := range of(r) {
			if i := slices.IndexFunc(out, func(x row) bool { return x.text == text }); i >= 0 {
				out[i].in |= 1 << r.Minor
				at = i + 1
			} else {
				out = slices.Insert(out, at, row{text, 1 << r.Minor})
				at++
			}
		}
	}
	return out
}

// keys are all keys of the maps of all releases, sorted.
func keys[T any](releases []release, of func(release) map[string]T) []string {
	all := map[string]bool{}
	for _, r := range releases {
		for k := range of(r) {
			all[k] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// merge writes the table that crates/crdx-types/src/table.rs reads.
func merge(w io.Writer, releases []release) error {
	out := bufio.NewWriter(w)
	defer out.Flush()
	first, last := releases[0].Minor, releases[len(releases)-1].Minor
	fmt.Fprintf(out, "# Made by scripts/builtin-types; crates/crdx-types/src/table.rs describes the format.\n")
	fmt.Fprintf(out, "releases %d %d\n", first, last)
	var all uint64
	for _, r := range releases {
		all |= 1 << r.Minor
	}
	print := func(indent string, above uint64, rows []row) error {
		for _, x := range rows {
			when, err := span(x.in, above, first, last)
			if err != nil {
				return fmt.Errorf("%s: %w", x.text, err)
			}
			fmt.Fprintf(out, "%s%s%s\n", indent, x.text, when)
		}
		return nil
	}
	everywhere := commonKinds(releases)
	for _, name := range keys(releases, func(r release) map[string]kind { return r.Kinds }) {
		_, kindName, _ := strings.Cut(name, " ")
		if everywhere[kindName] {
			continue
		}
		if err := print("kind ", all, rows(releases, func(r release) []string { return kindRow(name, r) })); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(everywhere)) {
		if err := print("kind ", all, rows(releases, func(r release) []string { return commonRow(r, name) })); err != nil {
			return err
		}
	}
	for _, name := range keys(releases, func(r release) map[string]typeInfo { return r.Types }) {
		heads := rows(releases, func(r release) []string {
			if t, ok := r.Types[name]; ok {
				return []string{strings.TrimSuffix("type "+name+" "+head(t, name), " ")}
			}
			return nil
		})
		if len(heads) != 1 {
			return fmt.Errorf("%s is not one type in all releases", name)
		}
		if err := print("", all, heads); err != nil {
			return err
		}
		err := print(" ", heads[0].in, rows(releases, func(r release) []string {
			t := r.Types[name]
			lines := make([]string, 0, len(t.Fields)+len(t.Enum))
			if t.Atomic {
				lines = append(lines, "+atomic")
			}
			for _, f := range t.Fields {
				flags := f.Flags
				if flags == "" && f.Merge != "" {
					flags = "-"
				}
				lines = append(lines, strings.TrimSpace(f.Name+" "+local(f.Type, name)+" "+flags+" "+f.Merge))
			}
			return append(lines, t.Enum...)
		}))
		if err != nil {
			return err
		}
	}
	return nil
}

// commonKinds are those that every group version registers: options, watch events, Status.
func commonKinds(releases []release) map[string]bool {
	common := map[string]bool{}
	for _, r := range releases {
		for name, k := range r.Kinds {
			_, kindName, _ := strings.Cut(name, " ")
			if strings.HasPrefix(k.Type, "meta/v1.") && kindName != "List" {
				common[kindName] = true
			}
		}
	}
	return common
}

// commonRow is the row of a common kind: of every group version (*) or of whatever a body says (**).
func commonRow(r release, kindName string) []string {
	for name, k := range r.Kinds {
		if strings.HasSuffix(name, " "+kindName) {
			at := "*"
			if k.AnyVersion {
				at = "**"
			}
			return []string{at + " " + kindName + " " + k.Type}
		}
	}
	return nil
}

func kindRow(name string, r release) []string {
	k, ok := r.Kinds[name]
	if !ok {
		return nil
	}
	text := name + " " + k.Type
	if k.Served {
		text += " served"
	}
	if k.Cluster {
		text += " cluster"
	}
	if k.Deprecated != "" {
		text += " deprecated=" + k.Deprecated
	}
	if k.Removed != "" {
		text += " removed=" + k.Removed
	}
	if k.Instead != "" {
		text += " instead=" + strings.Replace(k.Instead, " ", "/", 1)
	}
	return []string{text}
}

// head is what a type is: struct, custom, or the type below it.
func head(t typeInfo, name string) string {
	switch {
	case t.Custom:
		return "custom"
	case t.Of != "":
		return local(t.Of, name)
	}
	return "struct"
}

// local shortens the names of a type's own package: core/v1.Pod is .Pod in core/v1.
func local(t, name string) string {
	pkg, _, _ := strings.Cut(name, ".")
	var b strings.Builder
	for t != "" {
		if rest, ok := strings.CutPrefix(t, pkg+"."); ok && (b.Len() == 0 || strings.ContainsRune("]*[", rune(b.String()[b.Len()-1]))) {
			b.WriteByte('.')
			t = rest
			continue
		}
		b.WriteByte(t[0])
		t = t[1:]
	}
	return b.String()
}
