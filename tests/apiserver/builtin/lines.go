package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"strconv"
)

// check ends the program if there is an error. record.sh compiles this file with each of the programs.
func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "judge:", err)
		os.Exit(1)
	}
}

// record writes a line of JSON for each of COUNT sources of random numbers, which depend on SEED: the arguments of the program.
func record(line func(*rand.Rand) any) {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: judge SEED COUNT")
		os.Exit(2)
	}
	seed, err := strconv.ParseInt(os.Args[1], 10, 64)
	check(err)
	count, err := strconv.Atoi(os.Args[2])
	check(err)
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for n := range count {
		check(out.Encode(line(rand.New(rand.NewSource(seed + int64(n)*1000003)))))
	}
}
