package postrider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var anEmail = SendEmailBody{From: "a@x.test", To: []string{"b@y.test"}, Subject: "Hi", Text: "Hi", Type: "transactional"}

func sendMany(client *Client, count, parallel int, each func(int, *SentEmail, error)) {
	numbers := make(chan int)
	var workers sync.WaitGroup
	for i := 0; i < parallel; i++ {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for number := range numbers {
				sent, err := client.Emails.Send(context.Background(), &anEmail)
				each(number, sent, err)
			}
		}()
	}
	for number := 0; number < count; number++ {
		numbers <- number
	}
	close(numbers)
	workers.Wait()
}

func TestSendsInARowUseOneConnection(t *testing.T) {
	server := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		answerJSON(w, 200, `{"id":"em_1","status":"queued"}`)
	})
	client := newTestClient(t, server.URL)
	sendMany(client, 1000, 1, func(_ int, sent *SentEmail, err error) {
		if err != nil || sent.ID != "em_1" || sent.IdempotencyKey() == "" {
			t.Fatalf("%v, %v", sent, err)
		}
	})
	if made, _, _ := server.counts(); made != 1 {
		t.Errorf("%d connections were made", made)
	}
}

func TestManyGoroutinesHaveAtMost100ConnectionsAndNoneAfterClose(t *testing.T) {
	server := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		time.Sleep(5 * time.Millisecond)
		answerJSON(w, 200, `{"id":"em_1","status":"queued"}`)
	})
	client := newTestClient(t, server.URL)
	sendMany(client, 2000, 150, func(_ int, _ *SentEmail, err error) {
		if err != nil {
			t.Error(err)
		}
	})
	// net/http gives up a connection whose writer has not run for 50 ms, and the server may learn that after the next connection is there.
	if made, most, _ := server.counts(); made > 110 || most > 110 {
		t.Errorf("%d connections were made, and %d were open at once", made, most)
	}
	client.Close()
	expectNoneOpen(t, server)
}

func expectNoneOpen(t *testing.T, server *countingServer) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		_, _, open := server.counts()
		if open == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d connections are open", open)
		}
	}
}

func TestCloseEndsCallsInProgressAndRefusesLaterOnes(t *testing.T) {
	arrived := make(chan bool, 1)
	server := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		arrived <- true
		<-r.Context().Done()
	})
	client := newTestClient(t, server.URL)
	result := make(chan error)
	go func() {
		_, err := client.Plan.Get(context.Background())
		result <- err
	}()
	<-arrived
	client.Close()
	if problem := compareError(map[string]any{"type": ErrorClosed}, <-result); problem != "" {
		t.Error(problem)
	}
	_, err := client.Plan.Get(context.Background())
	if problem := compareError(map[string]any{"type": ErrorClosed}, err); problem != "" {
		t.Error(problem)
	}
	expectNoneOpen(t, server)
	if client.Close() != nil {
		t.Error("a second Close fails")
	}
}

func TestACallThatIsCanceledInItsPauseEndsAtOnce(t *testing.T) {
	server := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "20")
		answerJSON(w, 503, `{"error":{"type":"unavailable","message":"Busy.","requestId":"req_1"}}`)
	})
	client := newTestClient(t, server.URL)
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(50*time.Millisecond, cancel)
	_, err := client.Emails.Send(ctx, &anEmail, IdempotencyKey("order-1"))
	if problem := compareError(map[string]any{"type": ErrorCanceled, "idempotencyKey": "order-1"}, err); problem != "" {
		t.Error(problem)
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the cause is %v", errors.Unwrap(err))
	}
}

func TestTheDeadlineOfAContextIsATimeout(t *testing.T) {
	server := newServer(t, func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	client := newTestClient(t, server.URL)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, err := client.Plan.Get(ctx)
	if problem := compareError(map[string]any{"type": ErrorTimeout}, err); problem != "" || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%s: %v", problem, err)
	}
}

// emailStore accepts one email for each idempotency key, as the daemon does.
type emailStore struct {
	mutex  sync.Mutex
	byKey  map[string]int
	emails atomic.Int64
}

func (s *emailStore) accept(key string) string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if _, ok := s.byKey[key]; !ok {
		s.byKey[key] = int(s.emails.Add(1))
	}
	return fmt.Sprintf(`{"id":"em_%d","status":"queued"}`, s.byKey[key])
}

func TestSendsHappenOnceWhileTheServerLosesAnswers(t *testing.T) {
	store := &emailStore{byKey: map[string]int{}}
	var requests atomic.Int64
	server := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		number := requests.Add(1)
		if number%20 == 3 {
			answerJSON(w, 429, `{"error":{"type":"rate_limited","message":"Slow down.","requestId":"req_1"}}`)
			return
		}
		if number%40 == 9 {
			panic(http.ErrAbortHandler)
		}
		_, _ = io.Copy(io.Discard, r.Body)
		body := store.accept(r.Header.Get("Idempotency-Key"))
		if number%40 == 17 {
			panic(http.ErrAbortHandler)
		}
		if number%40 == 29 {
			w.Header().Set("Content-Length", "1000")
		}
		answerJSON(w, 200, body)
	})
	client := newTestClient(t, server.URL, WithMaxRetries(5))
	ids := sync.Map{}
	sendMany(client, 1000, 100, func(_ int, sent *SentEmail, err error) {
		if err != nil {
			t.Error(err)
			return
		}
		if _, twice := ids.LoadOrStore(sent.ID, true); twice {
			t.Errorf("%s is the answer of two sends", sent.ID)
		}
	})
	if got := store.emails.Load(); got != 1000 {
		t.Errorf("%d emails were accepted", got)
	}
}

func TestADaemonMayRestartDuringSends(t *testing.T) {
	store := &emailStore{byKey: map[string]int{}}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		answerJSON(w, 200, store.accept(r.Header.Get("Idempotency-Key")))
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	server := &http.Server{Handler: handler}
	go func() { _ = server.Serve(listener) }()
	client := newTestClient(t, "http://"+address, WithMaxRetries(4))
	restarted := make(chan *http.Server, 1)
	sendMany(client, 600, 8, func(number int, _ *SentEmail, err error) {
		if err != nil {
			t.Error(err)
		}
		if number == 200 {
			server.Close()
			time.AfterFunc(200*time.Millisecond, func() { restarted <- serveAgain(address, handler) })
		}
	})
	(<-restarted).Close()
	if got := store.emails.Load(); got != 600 {
		t.Errorf("%d emails were accepted", got)
	}
}

func serveAgain(address string, handler http.Handler) *http.Server {
	server := &http.Server{Handler: handler}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		panic(err)
	}
	go func() { _ = server.Serve(listener) }()
	return server
}

func TestAKeptConnectionThatDiedIsReplacedWithoutAPause(t *testing.T) {
	var requests atomic.Int64
	server := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) == 2 {
			panic(http.ErrAbortHandler)
		}
		answerJSON(w, 200, `{"id":"top_1"}`)
	})
	client := newTestClient(t, server.URL, WithMaxRetries(0))
	if _, err := client.Topics.Get(context.Background(), "top_1"); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Topics.Update(context.Background(), "top_1", &UpdateTopicBody{Name: Ptr("News")}); err != nil {
		t.Errorf("a PATCH is not sent again: %v", err)
	}
	if got := requests.Load(); got != 3 {
		t.Errorf("%d requests arrived", got)
	}
}

func TestAPostOnAKeptConnectionThatDiedIsNotRepeated(t *testing.T) {
	var requests atomic.Int64
	server := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) == 2 {
			_, _ = io.Copy(io.Discard, r.Body)
			panic(http.ErrAbortHandler)
		}
		answerJSON(w, 200, `{"id":"top_1"}`)
	})
	client := newTestClient(t, server.URL)
	if _, err := client.Topics.Get(context.Background(), "top_1"); err != nil {
		t.Fatal(err)
	}
	_, err := client.Topics.Create(context.Background(), &CreateTopicBody{Name: "News"})
	if problem := compareError(map[string]any{"type": ErrorConnection}, err); problem != "" || requests.Load() != 2 {
		t.Errorf("%s, %d requests", problem, requests.Load())
	}
}

// roundTripper is a transport of a caller, which does not tell when it has a connection.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

func TestAForeignTransportRepeatsAPostOnlyWhenItSurelyDidNotConnect(t *testing.T) {
	for wanted, problem := range map[int]error{
		1: io.ErrUnexpectedEOF,
		3: &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")},
	} {
		tries := 0
		client := newTestClient(t, "http://127.0.0.1:1", WithTransport(roundTripper(func(*http.Request) (*http.Response, error) {
			tries++
			return nil, problem
		})))
		_, err := client.Topics.Create(context.Background(), &CreateTopicBody{Name: "News"})
		if wrong := compareError(map[string]any{"type": ErrorConnection}, err); wrong != "" || tries != wanted {
			t.Errorf("%s, %d tries after %v", wrong, tries, problem)
		}
	}
}

func TestCloseEndsACallInItsPause(t *testing.T) {
	var tries atomic.Int64
	server := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		tries.Add(1)
		w.Header().Set("Retry-After", "2")
		answerJSON(w, 503, `{"error":{"type":"unavailable","message":"Busy.","requestId":"req_1"}}`)
	})
	for _, options := range [][]Option{nil, {WithTransport(&http.Transport{})}} {
		tries.Store(0)
		client := newTestClient(t, server.URL, options...)
		time.AfterFunc(100*time.Millisecond, func() { client.Close() })
		started := time.Now()
		_, err := client.Emails.Send(context.Background(), &anEmail, IdempotencyKey("order-1"))
		if problem := compareError(map[string]any{"type": ErrorClosed, "idempotencyKey": "order-1"}, err); problem != "" {
			t.Error(problem)
		}
		if took := time.Since(started); took > time.Second || tries.Load() != 1 {
			t.Errorf("%d tries in %v", tries.Load(), took)
		}
	}
}

// closingError closes the client while its failure is judged, which is after the failure was made and before the next try.
type closingError struct{ client *Client }

func (closingError) Error() string   { return "the connection is lost" }
func (e closingError) Unwrap() error { e.client.Close(); return nil }

func TestNothingIsSentAfterCloseAlsoWithoutAPause(t *testing.T) {
	var client *Client
	tries := 0
	client = newTestClient(t, "http://127.0.0.1:1", WithTransport(roundTripper(func(request *http.Request) (*http.Response, error) {
		tries++
		// A kept connection that has died is replaced at once.
		httptrace.ContextClientTrace(request.Context()).GotConn(httptrace.GotConnInfo{Reused: true})
		return nil, closingError{client}
	})))
	_, err := client.Plan.Get(context.Background())
	if problem := compareError(map[string]any{"type": ErrorClosed}, err); problem != "" || tries != 1 {
		t.Errorf("%s, %d tries", problem, tries)
	}
}
