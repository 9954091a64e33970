// Command formats records which texts kube-openapi accepts for each string format; from tests/apiserver:
//
//	go run facts/formats.go > ../facts/formats.json
//
// The samples are mutated from seeds; with a count and a seed for the random numbers there are as many as you like:
// FORMAT_FACTS=file cargo test formats then checks them.
//
//go:build ignore

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"sort"
	"strconv"
	"unicode/utf8"

	"k8s.io/kube-openapi/pkg/validation/strfmt"
)

var seeds = map[string][]string{
	"bsonobjectid":   {"507f1f77bcf86cd799439011", "507F1F77BCF86CD799439011"},
	"uri":            {"http://user:pa%20ss@example.com:8080/a/b?c=d#e", "/abs/path", "mailto:a@b", "http://[::1%25eth0]:80/x", "http://[::ffff:1.2.3.4]/", "urn:x:y", "a", "//host/p", "*", "http://a:1:2/", "foo://a:1:2/", "http://h%41", "http://h%ff", "http://é/", "://x", "1a:b", "http://[1.2.3.4]/", "http://a@b@c/", "/%zz", "http://a b/", "/a b", "?", "a?b", "http://[::1]a"},
	"email":          {"a@b.c", "A B <a@b>", "\"a b\"@c", "\"\"@c", "a@[1.2.3.4]", "a@[::1]", "a.b@c..d", ".a@b", "a@b (x (y) z)", "(x) a@b", "g: a@b;", "g: a@b, c@d;", "g:;", "=?utf-8?q?a_b?= <a@b>", "=?x?q?a?= <a@b>", "B =?x?q?a?= <a@b>", "=?utf-8?b?YQ==?= <a@b>", "=?utf-8?q??= <a@b>", "a@b (=?x?q?a?=)", "é@é", "<a@b>", "a b@c", "a@b c", "\"a\\\"b\"@c", "a@b,c@d", "x\\y@z", "A (c) B <a@b> (d)", "a@b ;", "g:(c) a@b (d);"},
	"hostname":       {"example.com", "a", "a-", "a-b", "a--b", "1.2.3.4", "x.c1", "é.fr", "😀.com", "a_b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.com", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "a.b-.cd", "a.-b.cd", "$.com", "+a.co", "a.com."},
	"ipv4":           {"1.2.3.4", "01.001.0.255", "256.1.1.1", "::ffff:1.2.3.4", "1.2.3", "0x1.2.3.4", "1.2.3.4.5", "::1.2.3.4", "1::1.2.3.04"},
	"ipv6":           {"::1", "1:2:3:4:5:6:7:8", "fe80::1%eth0", "::ffff:1.2.3.4", "1::", "1:2:3:4:5:6:7::", "1::2:3:4:5:6:7:8", "00001::", "1:2:3:4:5:6:1.2.3.4", "::01.2.3.4", "1.2.3.4:", ":1"},
	"cidr":           {"1.2.3.4/8", "01.2.3.4/08", "::1/128", "::1/129", "1.2.3.4/33", "1.2.3.4", "1::/0", "::ffff:1.2.3.4/96", "000001::/1", "1.2.3.4/+8", "1:2:3:4:5:6:7:8/64", "1:2:3:4:5:6:7::/64"},
	"mac":            {"00:00:5e:00:53:01", "00-00-5e-00-53-01", "0000.5e00.5301", "00005e005301", "02:00:5e:10:00:00:00:01", "00:00-5e:00:53:01", "0200.5e10.0000.0001", "00:00:00:00:fe:80:00:00:00:00:00:00:02:00:5e:10:00:00:00:01", "0000.0000.fe80.0000.0000.0000.0200.5e10.0000.0001"},
	"uuid":           {"123e4567-e89b-12d3-a456-426614174000", "123E4567e89b12d3a456426614174000"},
	"uuid3":          {"bcd02e22-68f0-3046-a512-327cca9def8f", "bcd02e2268f03046c512327cca9def8f"},
	"uuid4":          {"025b0d74-00a2-4048-bf57-227c5111bb34", "025b0d74-00a2-4048-cf57-227c5111bb34"},
	"uuid5":          {"886313e1-3b8a-5372-9b90-0c9aee199e5d", "886313E13B8A5372FB900C9AEE199E5D"},
	"isbn":           {"0321751043", "978-0321751041", "3 401 01319 X"},
	"isbn10":         {"0321751043", "3 401 01319 X", "1-61729-085-8"},
	"isbn13":         {"978-0321751041", "978 3 8362 2119 1"},
	"creditcard":     {"4111-1111-1111-1111", "5139288802098206", "374953669708156", "6011464355444102", "3548209662790989", "30190239451016", "213141516171815", "4220855426222389", "180012345678901"},
	"ssn":            {"111-11-1111", "191 60 2869", "111111111"},
	"hexcolor":       {"#FFFFFF", "fff", "#12345"},
	"rgbcolor":       {"rgb(255,255,255)", "rgb( 0 , 31 ,\t255 )", "rgb(01,2,3)", "rgb(256,1,1)", "rgb(100,250,99)"},
	"byte":           {"YWJj", "YWI=", "YQ==", "", "YQ=", "YW-j", "+/+/"},
	"password":       {"", "x"},
	"date":           {"2024-02-29", "2023-02-29", "0000-01-01", "2024-1-01", "2024-13-01", "2024-04-31"},
	"duration":       {"1h30m", ".5s", "-1h", "0", "+0", "1.s", "1μs", "1µs", "5 minutes", "P1D", "1H", "5 hrx", "5 secx", "2 weeks", "1y", "9999999999999h", "99999999999999999999h", "9223372036854775807ns", "-9223372036854775808ns", "9223372036854775808ns", "0.5d", "1 h5m", "5", "", "1nanosecond", "3 USx", "3 microx"},
	"date-time":      {"2024-02-29T23:59:59Z", "2024-02-29t23:59:59z", "2024-02-29T23:59:59,5Z", "2024-02-29T23:59:59.123456789123+25:00", "2024-02-29 23:59:59Z", "2024-02-29T24:00:00Z", "2024-02-29T23:59:60Z", "2024-02-29T23:59:59+0100", "2024-02-29T1:00:00Z", "2024-02-29T23:59:59-5+01:00", "2024-02-29T23:59:59zTx", "2024-02-29T23:59:59é5Z"},
	"k8s-short-name": {"a-b", "a", "-a", "a-", "aB", "a.b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},
	"k8s-long-name":  {"a-b.c", "a..b", ".a", "a.", "a.-b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.b"},
}

var pool = []rune("aAbBfFgxXyYzZtTs019:./-_ @%+#?&=()<>[]\\\"',;*!\t\n\r~^`{}|$éµμ😀Kſ٣\u00a0\x00\x7f")

func mutate(r *rand.Rand, s string, others []string) string {
	rs := []rune(s)
	for n := r.Intn(3); n >= 0; n-- {
		k := 0
		if len(rs) > 0 {
			k = r.Intn(len(rs))
		}
		c := pool[r.Intn(len(pool))]
		if len(rs) > 0 && r.Intn(2) == 0 {
			c = rs[r.Intn(len(rs))]
		}
		switch op := r.Intn(6); {
		case op == 0 && len(rs) > 0:
			rs = append(rs[:k:k], rs[k+1:]...)
		case op == 1 && len(rs) > 0:
			rs = append([]rune{}, rs...)
			rs[k] = c
		case op == 2:
			o := []rune(others[r.Intn(len(others))])
			if len(o) > 0 {
				rs = append(rs[:k:k], o[r.Intn(len(o)):]...)
			}
		case op == 3 && len(rs) > 0:
			j := r.Intn(len(rs)-k) + k
			rs = append(rs[:j:j], rs[k:]...)
		default:
			rs = append(rs[:k:k], append([]rune{c}, rs[k:]...)...)
		}
	}
	return string(rs)
}

func main() {
	var names []string
	for n := range seeds {
		names = append(names, n)
	}
	sort.Strings(names)
	w := bufio.NewWriter(os.Stdout)
	defer w.Flush()
	count, seed := 40, int64(1)
	if len(os.Args) > 2 {
		count, _ = strconv.Atoi(os.Args[1])
		seed, _ = strconv.ParseInt(os.Args[2], 10, 64)
	}
	r := rand.New(rand.NewSource(seed))
	type table struct {
		Yes []string `json:"yes"`
		No  []string `json:"no"`
	}
	all := map[string]table{}
	for _, n := range names {
		t := table{Yes: []string{}, No: []string{}}
		seen := map[string]bool{}
		add := func(s string) {
			if seen[s] || !utf8.ValidString(s) || len(s) > 400 {
				return
			}
			seen[s] = true
			if strfmt.Default.Validates(n, s) {
				t.Yes = append(t.Yes, s)
			} else {
				t.No = append(t.No, s)
			}
		}
		for _, s := range seeds[n] {
			add(s)
		}
		for i := 0; i < count; i++ {
			s := seeds[n][r.Intn(len(seeds[n]))]
			add(mutate(r, s, seeds[n]))
		}
		all[n] = t
	}
	fmt.Fprintln(w, "{")
	for i, n := range names {
		line := func(s []string) string {
			b := &bufferWriter{}
			e := json.NewEncoder(b)
			e.SetEscapeHTML(false)
			e.Encode(s)
			return string(b.b[:len(b.b)-1])
		}
		end := ","
		if i == len(names)-1 {
			end = ""
		}
		fmt.Fprintf(w, "%q: {\n \"yes\": %s,\n \"no\": %s\n}%s\n", n, line(all[n].Yes), line(all[n].No), end)
	}
	fmt.Fprintln(w, "}")
}

type bufferWriter struct{ b []byte }

func (b *bufferWriter) Write(p []byte) (int, error) {
	b.b = append(b.b, p...)
	return len(p), nil
}
