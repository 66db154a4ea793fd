package postrider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

func TestAddressesThatAreAllowed(t *testing.T) {
	for _, one := range []struct{ key, address, wanted string }{
		{"svc_prd_a", "https://mail.example.com", ""},
		{"svc_prd_a", "http://localhost:8025", ""},
		{"svc_prd_a", "http://postrider.localhost", ""},
		{"svc_prd_a", "http://127.8.0.1:8025/mail/", ""},
		{"svc_prd_a", "http://[::1]:8025", ""},
		{"svc_dev_a", "http://mail.example.com", ""},
		{"svc_prd_a", "http://mail.example.com", ErrorInsecureBaseURL},
		{"svc_prd_a", "http://127.0.0.1.example.com", ErrorInsecureBaseURL},
		{"svc_prd_a", "http://10.0.0.1", ErrorInsecureBaseURL},
		{"another_kind_of_key", "http://mail.example.com", ErrorInsecureBaseURL},
		{"svc_dev_a", "https://user:secret@mail.example.com", ErrorInvalidArgument},
		{"svc_dev_a", "https://mail.example.com?x=1", ErrorInvalidArgument},
		{"svc_dev_a", "ftp://mail.example.com", ErrorInvalidArgument},
		{"svc_dev_a", "mail.example.com", ErrorInvalidArgument},
		{"svc_dev_a", "", ErrorInvalidArgument},
		{"svc dev a", "https://mail.example.com", ErrorInvalidArgument},
		{"svc_dev_ä", "https://mail.example.com", ErrorInvalidArgument},
	} {
		t.Setenv("SERVICE_BASE_URL", "")
		client, err := New(one.key, WithBaseURL(one.address))
		var failure *Error
		if errors.As(err, &failure); (failure == nil) != (one.wanted == "") || failure != nil && failure.Type != one.wanted {
			t.Errorf("%s at %s: %v", one.key, one.address, err)
		}
		if failure != nil && strings.Contains(failure.Error(), one.key) {
			t.Errorf("the message has the key: %v", failure)
		}
		if client != nil {
			client.Close()
		}
	}
}

func TestKeyAndAddressFromTheEnvironment(t *testing.T) {
	server := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		answerJSON(w, 200, `{"name":"`+r.Header.Get("Authorization")+`"}`)
	})
	t.Setenv("SERVICE_API_KEY", testKey)
	t.Setenv("SERVICE_BASE_URL", server.URL+"/")
	client, err := New("")
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	plan, err := client.Plan.Get(context.Background())
	if err != nil || plan.Name != "Bearer "+testKey {
		t.Fatalf("%v, %v", plan, err)
	}
}

func TestTheKeyIsInNoMessageAndNoDump(t *testing.T) {
	server := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Echo", r.Header.Get("Authorization"))
		w.WriteHeader(502)
		fmt.Fprintf(w, "<html>your request: %v</html>", r.Header)
	})
	client := newTestClient(t, server.URL, WithMaxRetries(0))
	_, err := client.Plan.Get(context.Background())
	var failure *Error
	if !errors.As(err, &failure) || failure.Status != 502 {
		t.Fatal(err)
	}
	asJSON, _ := json.Marshal([]any{client, failure, client.Emails})
	for _, dump := range []string{
		fmt.Sprintf("%v %+v %#v %s %q", client, client, client, client, client),
		fmt.Sprintf("%v %+v %#v", *client.Emails, client.Emails, client.Emails),
		fmt.Sprintf("%+v %#v", client.services, client.settings),
		fmt.Sprintf("%v %+v %#v", failure, *failure, *failure),
		string(asJSON),
	} {
		if strings.Contains(dump, testKey) || strings.Contains(dump, testKey[8:]) {
			t.Errorf("the key is in %s", dump)
		}
	}
}

func TestTheMessageHasAtMost200CharactersOfAForeignBody(t *testing.T) {
	server := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(500)
		for i := 0; i < 40; i++ {
			_, _ = w.Write([]byte(strings.Repeat("ä ", 50_000)))
		}
	})
	client := newTestClient(t, server.URL, WithMaxRetries(0))
	_, err := client.Plan.Get(context.Background())
	var failure *Error
	if !errors.As(err, &failure) || failure.Type != ErrorHTTP || failure.Status != 500 {
		t.Fatal(err)
	}
	if got := strings.Count(failure.Message, "ä"); got != 100 {
		t.Errorf("it has %d characters of the body", got)
	}
}

func TestUnknownFieldsAreKeptAtEveryLevel(t *testing.T) {
	server := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		answerJSON(w, 200, `{"data":[{"id":"top_1","name":"News","colour":{"hue":7}}],"hasMore":false,"total":1}`)
	})
	client := newTestClient(t, server.URL)
	page, err := client.Topics.List(context.Background(), nil).Page()
	if err != nil {
		t.Fatal(err)
	}
	var topic struct{ Colour struct{ Hue int } }
	var list struct{ Total int }
	if json.Unmarshal(page.Data[0].RawJSON(), &topic) != nil || topic.Colour.Hue != 7 {
		t.Errorf("the item is %s", page.Data[0].RawJSON())
	}
	if json.Unmarshal(page.RawJSON(), &list) != nil || list.Total != 1 {
		t.Errorf("the page is %s", page.RawJSON())
	}
	var nothing Answer
	if nothing.RawJSON() != nil || nothing.RequestID() != "" || nothing.IdempotencyKey() != "" {
		t.Error("an empty answer has nothing")
	}
}

func TestFieldsOfAChangeAreAbsentNullOrSet(t *testing.T) {
	for wanted, body := range map[string]UpdateTopicBody{
		`{}`:                     {},
		`{"description":null}`:   {Description: Null[string]()},
		`{"description":""}`:     {Description: Value("")},
		`{"defaultOptIn":false}`: {DefaultOptIn: Ptr(false)},
	} {
		got, err := json.Marshal(body)
		if err != nil || string(got) != wanted {
			t.Errorf("%s instead of %s: %v", got, wanted, err)
		}
	}
}

func TestAPagerEndsWhenTheServerRepeatsItsCursor(t *testing.T) {
	requests := 0
	server := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		requests++
		answerJSON(w, 200, `{"data":[{"id":"top_1"}],"hasMore":true,"nextCursor":"top_1"}`)
	})
	client := newTestClient(t, server.URL)
	topics := client.Topics.List(context.Background(), &ListTopicsQuery{Limit: 1})
	count := 0
	for topics.Next() {
		if topics.Item().ID != "top_1" {
			t.Error("the item is another")
		}
		count++
	}
	if count != 2 || requests != 2 || topics.Err() != nil {
		t.Errorf("%d items in %d requests: %v", count, requests, topics.Err())
	}
}

func TestAnErrorEndsAPager(t *testing.T) {
	server := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("startingAfter") == "" {
			answerJSON(w, 200, `{"data":[{"id":"top_2"}],"hasMore":true,"nextCursor":"top_2"}`)
			return
		}
		answerJSON(w, 403, `{"error":{"type":"restricted_api_key","message":"No.","requestId":"req_1"}}`)
	})
	client := newTestClient(t, server.URL)
	topics := client.Topics.List(context.Background(), nil)
	for topics.Next() {
	}
	var failure *Error
	if !errors.As(topics.Err(), &failure) || failure.Type != "restricted_api_key" || failure.RequestID != "req_1" {
		t.Error(topics.Err())
	}
	if topics.Next() {
		t.Error("it goes on after an error")
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	for text, wanted := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, "0": 0, "-5": 0, "soon": 0, "NaN": 0, "-Inf": 0,
		"99999999999999999999":          maxSeconds * time.Second,
		"Sun, 01 Mar 2026 09:00:20 GMT": 20 * time.Second,
		"Sun, 01 Mar 2026 08:59:00 GMT": 0,
	} {
		if got := retryAfter(http.Header{"Retry-After": {text}}, now); got != wanted {
			t.Errorf("%q is %v", text, got)
		}
	}
	slow := http.Header{"Retry-After": {"Sun, 01 Mar 2026 09:10:20 GMT"}, "Date": {"Sun, 01 Mar 2026 09:10:00 GMT"}}
	if got := retryAfter(slow, now); got != 20*time.Second {
		t.Errorf("with a clock that is 10 minutes slow it is %v", got)
	}
}

func TestPausesGrowWithJitter(t *testing.T) {
	seen := map[time.Duration]bool{}
	for i := 0; i < 100; i++ {
		for n, base := range []time.Duration{firstPause, 2 * firstPause, 4 * firstPause} {
			pause := pauseBefore(n+1, &Error{})
			if seen[pause] = true; pause < base/2 || pause > base {
				t.Fatalf("pause %d is %v", n+1, pause)
			}
		}
	}
	if len(seen) < 200 {
		t.Errorf("there are only %d different pauses", len(seen))
	}
	if got := pauseBefore(1, &Error{RetryAfter: 3 * time.Second}); got != 3*time.Second {
		t.Errorf("Retry-After gives %v", got)
	}
}

func TestIdempotencyKeysThatAreRefused(t *testing.T) {
	client := newTestClient(t, "http://localhost:1", WithMaxRetries(0))
	email := &SendEmailBody{From: "a@x.test", To: []string{"b@y.test"}, Subject: "Hi", Text: "Hi", Type: "transactional"}
	for _, key := range []string{strings.Repeat("k", 257), "line\nbreak", "schlüssel"} {
		_, err := client.Emails.Send(context.Background(), email, IdempotencyKey(key))
		if problem := compareError(map[string]any{"type": ErrorInvalidArgument, "param": "idempotencyKey"}, err); problem != "" {
			t.Errorf("%q: %s", key, problem)
		}
	}
	_, err := client.Topics.Get(context.Background(), "top_1", IdempotencyKey("a"))
	if problem := compareError(map[string]any{"type": ErrorInvalidArgument}, err); problem != "" {
		t.Error(problem)
	}
}

func TestAKeyForThisMachineGoesThroughNoProxy(t *testing.T) {
	// net/http reads the environment once in a process, so that the proxy has to be there from its beginning.
	const proxy = "http://proxy.test:3128"
	if os.Getenv("http_proxy") != proxy {
		child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		child.Env = append(os.Environ(), "http_proxy="+proxy, "HTTP_PROXY=", "no_proxy=", "NO_PROXY=", "REQUEST_METHOD=")
		if output, err := child.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, output)
		}
		return
	}
	for address, wanted := range map[string]string{
		"http://postrider.localhost:8025": "", "http://localhost": "", "http://127.8.0.1:8025": "", "http://[::1]": "", "http://mail.example.com": proxy,
	} {
		request, _ := http.NewRequest("GET", address, nil)
		found, err := newPool().transport.Proxy(request)
		if got := fmt.Sprint(found); err != nil || got != wanted && (wanted != "" || found != nil) {
			t.Errorf("%s goes through %s (%v)", address, got, err)
		}
	}
}

func TestATryHasMoreTimeForALargeBodyAlsoWithATimeoutOfTheCaller(t *testing.T) {
	client := newTestClient(t, "http://127.0.0.1:1", WithTimeout(5*time.Second))
	large := &request{method: "POST", path: "/v1/emails", body: &body{size: 250_000}}
	for wanted, options := range map[time.Duration][]CallOption{7 * time.Second: nil, 3 * time.Second: {Timeout(time.Second)}} {
		run, failure := client.newRun(context.Background(), large, options)
		if failure != nil || run.timeout != wanted {
			t.Errorf("%v instead of %v (%v)", run.timeout, wanted, failure)
		}
	}
}

func TestAnAnswerOfAnotherServerIsNoPageAndNoObject(t *testing.T) {
	body := ""
	server := newServer(t, func(w http.ResponseWriter, r *http.Request) { answerJSON(w, 200, body) })
	client := newTestClient(t, server.URL)
	for _, body = range []string{`{"status":"ok"}`, `{"data":null}`, `{"data":{}}`, `null`, `[]`, `"ok"`} {
		_, err := client.Topics.List(context.Background(), nil).Page()
		if problem := compareError(map[string]any{"type": ErrorInvalidResponse, "status": 200.0}, err); problem != "" {
			t.Errorf("%s: %s", body, problem)
		}
	}
	for _, body = range []string{`null`, `[]`, `"ok"`} {
		_, err := client.Topics.Get(context.Background(), "top_1")
		if problem := compareError(map[string]any{"type": ErrorInvalidResponse, "status": 200.0}, err); problem != "" {
			t.Errorf("%s: %s", body, problem)
		}
	}
}
