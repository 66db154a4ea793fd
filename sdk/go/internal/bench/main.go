// Command bench measures one thing, and prints a line of JSON. `npm run bench -- --only sdks` runs it against servers of its own:
//
//	bench sends COUNT
//	bench parallel CALLERS EACH
//	bench faults FIRST COUNT CALLERS MAX_RETRIES
//	bench attachment file|bytes FILE
//	bench import
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"sort"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/postrider/postrider-go"
)

const (
	rounds = 10
	warmUp = 200
	// maxCalls bounds the calls of one send: one that fails so often has found something else than the faults that are asked for.
	maxCalls = 20
)

type result map[string]any

func main() {
	task, arguments := os.Args[1], os.Args[2:]
	number := func(index int) int {
		value, err := strconv.Atoi(arguments[index])
		check(err)
		return value
	}
	var found result
	switch task {
	case "sends":
		found = sends(number(0))
	case "parallel":
		found = parallel(number(0), number(1))
	case "faults":
		found = faults(number(0), number(1), number(2), number(3))
	case "attachment":
		found = attachment(arguments[0], arguments[1])
	case "import":
		found = importTime()
	default:
		// The program is only started, so that it prints how long its packages take.
		return
	}
	line, err := json.Marshal(found)
	check(err)
	fmt.Println(string(line))
	if task == "parallel" {
		_, _ = io.Copy(io.Discard, os.Stdin)
	}
}

func newEmail() *postrider.SendEmailBody {
	return &postrider.SendEmailBody{
		From: "bench@sender.test", To: []string{"b@recipient.test"}, Subject: "Hello", HTML: "<p>It works.</p>", Type: "transactional",
	}
}

func newClient(options ...postrider.Option) *postrider.Client {
	client, err := postrider.New("", options...)
	check(err)
	return client
}

func send(client *postrider.Client) {
	_, err := client.Emails.Send(context.Background(), newEmail())
	check(err)
}

// sends alternates rounds of sends and of bare requests. Times are medians of single calls, in microseconds; processor times are means.
func sends(count int) result {
	client := newClient()
	defer client.Close()
	transport := &http.Transport{DisableCompression: true}
	calls := map[string]func(){"send": func() { send(client) }, "bare": func() { bareRequest(transport) }}
	times, cpu := map[string][]time.Duration{}, map[string]time.Duration{}
	for _, call := range calls {
		for i := 0; i < warmUp; i++ {
			call()
		}
	}
	for round := 0; round < rounds; round++ {
		for kind, call := range calls {
			before := processorTime()
			for i := 0; i < count/rounds; i++ {
				started := time.Now()
				call()
				times[kind] = append(times[kind], time.Since(started))
			}
			cpu[kind] += processorTime() - before
		}
	}
	found := result{}
	for kind := range calls {
		found[kind+"Us"] = microseconds(median(times[kind]))
		found[kind+"CpuUs"] = microseconds(cpu[kind]) / float64(count)
	}
	return found
}

func bareRequest(transport *http.Transport) {
	body, err := json.Marshal(newEmail())
	check(err)
	request, err := http.NewRequest("POST", os.Getenv("SERVICE_BASE_URL")+"/v1/emails", bytes.NewReader(body))
	check(err)
	request.Header.Set("Authorization", "Bearer "+os.Getenv("SERVICE_API_KEY"))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", strconv.FormatInt(time.Now().UnixNano(), 10))
	response, err := transport.RoundTrip(request)
	check(err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	check(err)
	check(json.Unmarshal(text, &postrider.SentEmail{}))
}

func parallel(callers, each int) result {
	client := newClient()
	inParallel(callers, callers*each, func(int) { send(client) })
	client.Close()
	return result{}
}

// faults sends numbered emails, and asks again with the key of the error as long as a call fails.
func faults(first, count, callers, maxRetries int) result {
	client := newClient(postrider.WithMaxRetries(maxRetries))
	defer client.Close()
	var again atomic.Int64
	inParallel(callers, count, func(index int) {
		email := newEmail()
		email.Subject = fmt.Sprintf("Number %d", first+index)
		var options []postrider.CallOption
		for calls := 1; ; calls++ {
			_, err := client.Emails.Send(context.Background(), email, options...)
			var failure *postrider.Error
			if err == nil {
				return
			}
			if !errors.As(err, &failure) || calls == maxCalls {
				check(err)
			}
			options = []postrider.CallOption{postrider.IdempotencyKey(failure.IdempotencyKey)}
			again.Add(1)
		}
	})
	return result{"again": again.Load()}
}

// attachment returns by how many bytes the memory of this process grows at most, the file in memory included.
func attachment(kind, file string) result {
	client := newClient()
	defer client.Close()
	sendContent := func(content *postrider.Content) {
		email := newEmail()
		email.Attachments = []postrider.SendEmailBodyAttachment{{Filename: "a", Content: content}}
		_, err := client.Emails.Send(context.Background(), email)
		check(err)
	}
	sendContent(postrider.FromBytes(make([]byte, 1<<20)))
	runtime.GC()
	before := memoryBytes("VmRSS")
	opened, err := os.Open(file)
	check(err)
	defer opened.Close()
	if kind == "file" {
		sendContent(postrider.FromReader(opened))
	} else {
		content, err := os.ReadFile(file)
		check(err)
		sendContent(postrider.FromBytes(content))
	}
	return result{"bytes": memoryBytes("VmHWM") - before}
}

// memoryBytes reads a line of proc(5)'s status: VmRSS is the resident memory, VmHWM its peak.
func memoryBytes(name string) int {
	status, err := os.ReadFile("/proc/self/status")
	check(err)
	found := regexp.MustCompile(`(?m)^` + name + `:\s+(\d+) kB$`).FindSubmatch(status)
	kilobytes, err := strconv.Atoi(string(found[1]))
	check(err)
	return kilobytes * 1024
}

// importTime starts this program again, and returns the time that the runtime reports for the variables of the library. Go has no import at run time.
func importTime() result {
	command := exec.Command(os.Args[0], "nothing")
	command.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	output, err := command.CombinedOutput()
	check(err)
	found := regexp.MustCompile(`init github\.com/postrider/postrider-go @\S+ ms, (\S+) ms clock`).FindSubmatch(output)
	if found == nil {
		panic("the runtime reports nothing of the library")
	}
	took, err := strconv.ParseFloat(string(found[1]), 64)
	check(err)
	// Nothing waits while variables are set.
	return result{"ms": took, "cpuMs": took}
}

func inParallel(callers, count int, work func(int)) {
	var next atomic.Int64
	var calls sync.WaitGroup
	for i := 0; i < callers; i++ {
		calls.Add(1)
		go func() {
			defer calls.Done()
			for index := int(next.Add(1)) - 1; index < count; index = int(next.Add(1)) - 1 {
				work(index)
			}
		}()
	}
	calls.Wait()
}

func processorTime() time.Duration {
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func median(times []time.Duration) time.Duration {
	sorted := append([]time.Duration(nil), times...)
	sort.Slice(sorted, func(i, j int) bool { return sorted[i] < sorted[j] })
	return sorted[len(sorted)/2]
}

func microseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }

func check(err error) {
	if err != nil {
		panic(err)
	}
}
