// Command bench measures the library against bare requests of net/http to the same server, and prints one line of JSON.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"github.com/postrider/postrider-go"
)

const (
	rounds     = 10
	perRound   = 100
	inParallel = 100
)

var email = postrider.SendEmailBody{
	From: "a@x.test", To: []string{"b@y.test"}, Subject: "Hi", HTML: "<p>Hi</p>", Type: "transactional",
}

// server answers every request as a send, and counts its connections.
type server struct {
	*httptest.Server
	made, open atomic.Int64
}

func newServer() *server {
	s := &server{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"id":"em_01khq3z5vgxw1r8t6n2m4c9b7d","status":"queued"}`))
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			s.made.Add(1)
			s.open.Add(1)
		case http.StateClosed:
			s.open.Add(-1)
		}
	}
	s.Start()
	return s
}

func main() {
	if len(os.Args) > 1 {
		// The program is measured while it starts.
		return
	}
	results := map[string]any{}
	inARow(results)
	atOnce(results)
	line, _ := json.Marshal(results)
	fmt.Println(string(line))
}

// inARow alternates rounds of sends and of bare requests, and compares the medians of single calls.
func inARow(results map[string]any) {
	s := newServer()
	defer s.Close()
	client := newClient(s)
	body, _ := json.Marshal(email)
	transport := &http.Transport{DisableCompression: true}
	var sends, bare []time.Duration
	for round := 0; round < rounds; round++ {
		sends = append(sends, timed(perRound, func() { send(client) })...)
		bare = append(bare, timed(perRound, func() { bareRequest(transport, s.URL, body) })...)
	}
	client.Close()
	transport.CloseIdleConnections()
	results["sends"] = len(sends)
	results["connections"] = s.made.Load() - 1
	results["sendMs"] = milliseconds(median(sends))
	results["bareMs"] = milliseconds(median(bare))
	results["overheadMs"] = milliseconds(median(sends) - median(bare))
}

func atOnce(results map[string]any) {
	s := newServer()
	defer s.Close()
	client := newClient(s)
	var calls sync.WaitGroup
	for i := 0; i < inParallel; i++ {
		calls.Add(1)
		go func() {
			defer calls.Done()
			for i := 0; i < 10; i++ {
				send(client)
			}
		}()
	}
	calls.Wait()
	results["parallelConnections"] = s.made.Load()
	client.Close()
	time.Sleep(200 * time.Millisecond)
	results["openAfterClose"] = s.open.Load()
}

func newClient(s *server) *postrider.Client {
	client, err := postrider.New("svc_dev_bench", postrider.WithBaseURL(s.URL))
	if err != nil {
		panic(err)
	}
	return client
}

func send(client *postrider.Client) {
	if _, err := client.Emails.Send(context.Background(), &email); err != nil {
		panic(err)
	}
}

func bareRequest(transport *http.Transport, address string, body []byte) {
	request, err := http.NewRequest("POST", address+"/v1/emails", bytes.NewReader(body))
	if err != nil {
		panic(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := transport.RoundTrip(request)
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()
	if _, err := io.ReadAll(response.Body); err != nil {
		panic(err)
	}
}

func timed(count int, work func()) []time.Duration {
	times := make([]time.Duration, count)
	for i := range times {
		start := time.Now()
		work()
		times[i] = time.Since(start)
	}
	return times
}

func median(times []time.Duration) time.Duration {
	sorted := append([]time.Duration(nil), times...)
	sort.Slice(sorted, func(i, j int) bool { return sorted[i] < sorted[j] })
	return sorted[len(sorted)/2]
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
