package postrider

import (
	"bytes"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestTheFirstExampleOfTheReadmeWorksWordForWord runs it in a module of its own against a daemon.
func TestTheFirstExampleOfTheReadmeWorksWordForWord(t *testing.T) {
	environment := daemonEnvironment(t)
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	source := regexp.MustCompile("(?s)```go\n(package main.+?)```").FindSubmatch(readme)
	if source == nil {
		t.Fatal("the README has no program")
	}
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	module := "module example\n\ngo 1.19\n\nrequire github.com/postrider/postrider-go v0.0.0\n\nreplace github.com/postrider/postrider-go => " + here + "\n"
	for name, text := range map[string][]byte{"main.go": source[1], "go.mod": []byte(module)} {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if output := runProgram(t, build(t, folder, "."), environment); !regexp.MustCompile(`^em_\w+ queued\n$`).MatchString(output) {
		t.Errorf("it prints %q", output)
	}
}

func TestTheExamplesRun(t *testing.T) {
	environment := daemonEnvironment(t)
	sent := runProgram(t, build(t, ".", "./examples/send"), environment)
	if !regexp.MustCompile(`^em_\w+ queued\nem_\w+ (sent|delivered)\n$`).MatchString(sent) {
		t.Errorf("send prints %q", sent)
	}
	if listed := runProgram(t, build(t, ".", "./examples/list"), environment); !strings.Contains(listed, "Hello") {
		t.Errorf("list prints %q", listed)
	}
}

func TestTheExampleOfWebhooksVerifies(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	command := exec.Command(build(t, ".", "./examples/webhook"))
	command.Env = append(os.Environ(), "WEBHOOK_SECRET=whsec_a", "WEBHOOK_ADDRESS="+address)
	var output bytes.Buffer
	command.Stdout = &output
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	body := []byte(`{"type":"email.delivered","data":{"emailId":"em_1"}}`)
	right := SignWebhook(body, "whsec_a", time.Now())
	old := SignWebhook(body, "whsec_a", time.Now().Add(-301*time.Second))
	statuses := []int{post(t, address, body, right), post(t, address, append(body, ' '), right), post(t, address, body, old), post(t, address, body, "")}
	_ = command.Process.Kill()
	_ = command.Wait()
	for i, wanted := range []int{204, 401, 401, 401} {
		if statuses[i] != wanted {
			t.Errorf("post %d is answered %d", i, statuses[i])
		}
	}
	if output.String() != "email.delivered {\"emailId\":\"em_1\"}\n" {
		t.Errorf("it prints %q", output.String())
	}
}

func daemonEnvironment(t *testing.T) []string {
	t.Helper()
	address := os.Getenv("CONTRACT_BASE_URL")
	if address == "" {
		t.Skip("CONTRACT_BASE_URL is not set")
	}
	return append(os.Environ(), "SERVICE_BASE_URL="+address, "SERVICE_API_KEY="+os.Getenv("CONTRACT_KEY"))
}

func build(t *testing.T, folder, name string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "program")
	command := exec.Command("go", "build", "-mod=mod", "-o", program, name)
	command.Dir = folder
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	return program
}

func runProgram(t *testing.T, program string, environment []string) string {
	t.Helper()
	command := exec.Command(program)
	command.Env = environment
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	return string(output)
}

// post waits until the program listens.
func post(t *testing.T, address string, body []byte, signature string) int {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		request, err := http.NewRequest("POST", "http://"+address, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set(SignatureHeader, signature)
		response, err := http.DefaultClient.Do(request)
		if err == nil {
			response.Body.Close()
			return response.StatusCode
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}
