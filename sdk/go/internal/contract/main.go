// Command contract runs the tests of this module, those of the contract too when the environment names a daemon and a scripted server. It prints one line for
// each test that failed, and ends with the numbers as one line of JSON.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// event is one line of `go test -json`.
type event struct{ Action, Package, Test, Output string }

type counts struct {
	Tests int `json:"tests"`
	Pass  int `json:"pass"`
	Fail  int `json:"fail"`
}

func main() {
	arguments := []string{"test", "-json", "-count=1", "./..."}
	if os.Getenv("CONTRACT_RACE") != "" {
		arguments = append([]string{"test", "-race"}, arguments[1:]...)
	}
	command := exec.Command("go", arguments...)
	command.Stderr = os.Stderr
	output, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	total := read(output)
	if command.Wait() != nil && total.Fail == 0 {
		fmt.Println("the tests ended without a result: see `go vet ./... && go test ./...`")
		total.Tests++
		total.Fail++
	}
	line, _ := json.Marshal(total)
	fmt.Println(string(line))
	if total.Fail > 0 {
		os.Exit(1)
	}
}

// read counts the tests without subtests. A test that was skipped does not count.
func read(output io.Reader) counts {
	var total counts
	outputs := map[string][]string{}
	parents := map[string]bool{}
	lines := bufio.NewScanner(output)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var one event
		if json.Unmarshal(lines.Bytes(), &one) != nil || one.Test == "" {
			continue
		}
		name := one.Package + "." + one.Test
		if end := strings.LastIndex(name, "/"); end > len(one.Package) {
			parents[name[:end]] = true
		}
		switch one.Action {
		case "output":
			outputs[name] = append(outputs[name], strings.TrimSpace(one.Output))
		case "pass", "fail":
			if !parents[name] {
				total.add(one.Action, one.Test, outputs[name])
			}
			delete(outputs, name)
		}
	}
	return total
}

func (c *counts) add(action, test string, outputs []string) {
	c.Tests++
	if action == "pass" {
		c.Pass++
		return
	}
	c.Fail++
	var said []string
	for _, line := range outputs {
		if line != "" && !strings.HasPrefix(line, "===") && !strings.HasPrefix(line, "---") {
			said = append(said, line)
		}
	}
	fmt.Printf("%s: %s\n", test, strings.Join(said, " | "))
}
