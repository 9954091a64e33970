// Command unicode_tables prints the Unicode tables that Go's regexp uses; from tests/apiserver:
//
//	go run facts/unicode_tables.go > ../../crates/crdx-value/src/unicode.txt
//
//go:build ignore

package main

import (
	"fmt"
	"slices"
	"sort"
	"unicode"
)

func ranges(t *unicode.RangeTable) string {
	var out []byte
	last := rune(0)
	emit := func(lo, hi rune) {
		if len(out) > 0 {
			out = append(out, ' ')
		}
		out = append(out, fmt.Sprintf("%x", lo-last)...)
		if hi != lo {
			out = append(out, fmt.Sprintf("-%x", hi-lo)...)
		}
		last = hi
	}
	lo, hi := rune(-1), rune(-2)
	add := func(a, b rune) {
		if a == hi+1 {
			hi = b
			return
		}
		if hi >= 0 {
			emit(lo, hi)
		}
		lo, hi = a, b
	}
	for _, r := range t.R16 {
		if r.Stride == 1 {
			add(rune(r.Lo), rune(r.Hi))
			continue
		}
		for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
			add(c, c)
		}
	}
	for _, r := range t.R32 {
		if r.Stride == 1 {
			add(rune(r.Lo), rune(r.Hi))
			continue
		}
		for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
			add(c, c)
		}
	}
	if hi >= 0 {
		emit(lo, hi)
	}
	return string(out)
}

func main() {
	fmt.Printf("# Unicode %s as in Go's package unicode. Ranges are hexadecimal, each counted from the end of the one before.\n", unicode.Version)
	tables := map[string]*unicode.RangeTable{}
	fold := map[string]*unicode.RangeTable{}
	for n, t := range unicode.Scripts {
		tables[n] = t
	}
	for n, t := range unicode.FoldScript {
		fold[n] = t
	}
	for n, t := range unicode.Categories {
		if _, ok := tables[n]; ok {
			panic(n)
		}
		tables[n] = t
	}
	for n, t := range unicode.FoldCategory {
		fold[n] = t
	}
	var names []string
	for n := range tables {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		fmt.Printf("table %s %s\n", n, ranges(tables[n]))
	}
	names = nil
	for n := range fold {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		fmt.Printf("fold %s %s\n", n, ranges(fold[n]))
	}
	names = nil
	for n := range unicode.CategoryAliases {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		fmt.Printf("alias %s %s\n", n, unicode.CategoryAliases[n])
	}
	// Orbits of SimpleFold, smallest first; neighbours with the same distances are one entry lo-count+stride:distances.
	type orbit struct {
		lo   rune
		dist string
	}
	var orbits []orbit
	for c := rune(0); c <= unicode.MaxRune; c++ {
		if unicode.SimpleFold(c) == c {
			continue
		}
		var o []rune
		for f := unicode.SimpleFold(c); f != c; f = unicode.SimpleFold(f) {
			o = append(o, f)
		}
		if slices.Min(o) < c {
			continue
		}
		slices.Sort(o)
		d := ""
		for _, f := range o {
			d += fmt.Sprintf(":%x", f-c)
		}
		orbits = append(orbits, orbit{c, d})
	}
	fmt.Print("orbits")
	last := rune(0)
	for i := 0; i < len(orbits); {
		j := i + 1
		stride := rune(1)
		if j < len(orbits) && orbits[j].dist == orbits[i].dist && orbits[j].lo-orbits[i].lo <= 2 {
			stride = orbits[j].lo - orbits[i].lo
			for j < len(orbits) && orbits[j].dist == orbits[i].dist && orbits[j].lo-orbits[j-1].lo == stride {
				j++
			}
		}
		fmt.Printf(" %x", orbits[i].lo-last)
		if j-i > 1 {
			fmt.Printf("*%x+%x", j-i, stride)
		}
		fmt.Print(orbits[i].dist)
		last = orbits[i].lo
		i = j
	}
	fmt.Println()
}
