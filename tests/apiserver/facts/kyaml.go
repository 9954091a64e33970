// Command kyaml records how `kubectl -o kyaml` (sigs.k8s.io/yaml/kyaml) writes random values; from tests/apiserver:
//
//	go run facts/kyaml.go | gzip -9n > ../facts/kyaml.jsonl.gz
//
// U+007F and U+0085 are left out: the library fails for the one and changes the other.
//
//go:build ignore

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"

	"sigs.k8s.io/yaml/kyaml"
)

func main() {
	r := rand.New(rand.NewSource(37))
	atoms := []string{"a", "b", "Z", "1", "0", "9", "_", "-", ".", "/", ":", " ", "\n", "\t", "\"", "\\", "\r", "\x00", "\x1b", "\x01", "é", "漢", "😀", "\u200b", "\u00a0", "\u2028", "\u3000", "x", "e", "p", "#", "'", "{", "}", ",", "%", "&", "*"}
	words := []string{"", "null", "Null", "~", "true", "TRUE", "True", "t", "F", "y", "Yes", "on", "OFF", "n", "1", "0", "-1", "1.5", "1e5", "1e-5", "1e999", "0x1F", "0xzz", "0b11", "0b12", "0o17", "017", "08", "1_000", "0x1p-2", "0x1p", "0x.8p1", "inf", "Infinity", "nan", "NaN", ".inf", "2006-1-2", "2006-13-2", "2006-02-30", "2004-02-29", "2006-1-2T15:4:5Z", "11:00", "9223372036854775807", "9223372036854775808", "99999999999999999999", "0xffffffffffffffff", "a.b/c", "a/", ".a", "f:spec", ".", "k:{\"name\":\"x\"}", "app.kubernetes.io/name", "x-kubernetes", "-", "--", "a-", "é", "²", "x\ny", "\n", "\n\n", " x\n", "x\n ", "\tx\n\ty", "a\n\nb\n", "0_", "_", "_1", "1_", "1e", "e1", "1.", "1..2", "0", "00", "0x", "0b", "tRUE", "falsey", "nil"}
	str := func() string {
		if r.Intn(3) == 0 {
			return words[r.Intn(len(words))]
		}
		s := ""
		for n := r.Intn(9); n > 0; n-- {
			s += atoms[r.Intn(len(atoms))]
		}
		return s
	}
	var gen func(depth int) any
	gen = func(depth int) any {
		k := r.Intn(9)
		if depth > 3 && k < 4 {
			k = 4
		}
		switch k {
		case 0, 1:
			m := map[string]any{}
			for n := r.Intn(5); n > 0; n-- {
				m[str()] = gen(depth + 1)
			}
			return m
		case 2, 3:
			l := []any{}
			for n := r.Intn(5); n > 0; n-- {
				l = append(l, gen(depth+1))
			}
			return l
		case 4:
			return []any{int64(0), int64(-7), int64(9223372036854775807), 1.5, 1e21, 1e-7, -0.25}[r.Intn(7)]
		case 5:
			return []any{true, false, nil}[r.Intn(3)]
		default:
			return str()
		}
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	emit := func(v any) {
		b, _ := json.Marshal(v)
		var buf bytes.Buffer
		e := kyaml.Encoder{}
		if err := e.FromObject(v, &buf); err != nil {
			fmt.Fprintln(os.Stderr, err, string(b))
			return
		}
		o, _ := json.Marshal(map[string]string{"json": string(b), "kyaml": buf.String()})
		out.Write(o)
		out.WriteByte('\n')
	}
	all := map[string]any{}
	for _, w := range words {
		all[w] = w
	}
	emit(all)
	for i := 0; i < 1500; i++ {
		emit(map[string]any{"a": gen(0), str(): gen(1)})
	}
}
