package postrider

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// bodyServer keeps the bodies that arrive.
func bodyServer(t *testing.T) (*countingServer, func() []byte) {
	bodies := make(chan []byte, 10)
	server := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if int64(len(body)) != r.ContentLength {
			t.Errorf("the length is %d for %d bytes", r.ContentLength, len(body))
		}
		bodies <- body
		answerJSON(w, 200, `{"id":"em_1","status":"queued","data":[]}`)
	})
	return server, func() []byte { return <-bodies }
}

func contentsIn(t *testing.T, body []byte) []string {
	t.Helper()
	var email struct {
		Attachments []struct{ Content, Filename string }
		Emails      []json.RawMessage
	}
	if err := json.Unmarshal(body, &email); err != nil {
		t.Fatalf("%v in %s", err, shorten(string(body)))
	}
	var contents []string
	for _, attachment := range email.Attachments {
		content, err := base64.StdEncoding.DecodeString(attachment.Content)
		if err != nil {
			t.Error(err)
		}
		contents = append(contents, string(content))
	}
	for _, inner := range email.Emails {
		contents = append(contents, contentsIn(t, inner)...)
	}
	return contents
}

func withFiles(contents ...*Content) *SendEmailBody {
	email := anEmail
	for _, content := range contents {
		email.Attachments = append(email.Attachments, SendEmailBodyAttachment{Filename: "Übersicht 🎉.txt", Content: content})
	}
	return &email
}

func TestAttachmentsFromFilesStreamsBytesAndBase64(t *testing.T) {
	server, nextBody := bodyServer(t)
	client := newTestClient(t, server.URL)
	name := filepath.Join(t.TempDir(), "a.txt")
	long := strings.Repeat("0123456789", 100_001)
	if err := os.WriteFile(name, []byte(long), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	email := withFiles(FromReader(file), FromBytes([]byte{0, 255}), FromBytes(nil), FromBase64("SGk="),
		FromReader(iotest.OneByteReader(strings.NewReader("dripping"))), FromReader(strings.NewReader("")))
	wanted := []string{long, "\x00\xff", "", "Hi", "dripping", ""}
	for i := 0; i < 2; i++ {
		if _, err := client.Emails.Send(context.Background(), email); err != nil {
			t.Fatal(err)
		}
		body := nextBody()
		if got := contentsIn(t, body); strings.Join(got, "|") != strings.Join(wanted, "|") {
			t.Errorf("send %d has other contents", i+1)
		}
		if !bytes.Contains(body, []byte("Übersicht 🎉.txt")) {
			t.Error("the name has changed")
		}
	}
	batch := &SendBatchBody{Emails: []SendEmailBody{*withFiles(FromBytes([]byte("one"))), *withFiles(FromBytes([]byte("two")))}}
	if _, err := client.Emails.SendBatch(context.Background(), batch); err != nil {
		t.Fatal(err)
	}
	if got := contentsIn(t, nextBody()); strings.Join(got, "|") != "one|two" {
		t.Errorf("the batch has %v", got)
	}
}

func TestAFileThatCannotBeReadIsAnErrorBeforeAnythingIsSent(t *testing.T) {
	client := newTestClient(t, "http://localhost:1", WithMaxRetries(0))
	broken := errors.New("the disk is gone")
	_, err := client.Emails.Send(context.Background(), withFiles(FromReader(iotest.ErrReader(broken))))
	if problem := compareError(map[string]any{"type": ErrorInvalidArgument, "param": "attachments"}, err); problem != "" || !errors.Is(err, broken) {
		t.Errorf("%s: %v", problem, err)
	}
	_, err = client.Suppressions.ImportCSV(context.Background(), iotest.ErrReader(broken), nil)
	if problem := compareError(map[string]any{"type": ErrorInvalidArgument, "param": "file"}, err); problem != "" || !errors.Is(err, broken) {
		t.Errorf("%s: %v", problem, err)
	}
	_, err = client.Suppressions.ImportCSV(context.Background(), nil, nil)
	if problem := compareError(map[string]any{"type": ErrorInvalidArgument, "param": "file"}, err); problem != "" {
		t.Error(problem)
	}
}

func TestTextThatIsNoUTF8IsSentAsReplacementCharacters(t *testing.T) {
	server, nextBody := bodyServer(t)
	client := newTestClient(t, server.URL)
	email := anEmail
	email.Subject = "lone \xed\xa0\x80 surrogate"
	if _, err := client.Emails.Send(context.Background(), &email); err != nil {
		t.Fatal(err)
	}
	var sent struct{ Subject string }
	if body := nextBody(); json.Unmarshal(body, &sent) != nil || sent.Subject != "lone \uFFFD\uFFFD\uFFFD surrogate" {
		t.Errorf("the body is %s", body)
	}
}

// TestMemoryOfALargeAttachment sends 25 MiB from a stream and from bytes, and samples the heap.
func TestMemoryOfALargeAttachment(t *testing.T) {
	const size = 25 << 20
	server := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		if count, _ := io.Copy(io.Discard, r.Body); count < size/3*4 {
			t.Errorf("%d bytes arrived", count)
		}
		answerJSON(w, 200, `{"id":"em_1","status":"queued"}`)
	})
	client := newTestClient(t, server.URL)
	for name, open := range map[string]func() *Content{
		"a stream": func() *Content { return FromReader(io.LimitReader(zeros{}, size)) },
		"bytes":    func() *Content { return FromBytes(make([]byte, size)) },
	} {
		peak := peakHeap(func() {
			if _, err := client.Emails.Send(context.Background(), withFiles(open())); err != nil {
				t.Error(err)
			}
		})
		t.Logf("25 MiB from %s: %.1f MiB, %.2f times the file", name, float64(peak)/(1<<20), float64(peak)/size)
		if peak > 3*size {
			t.Errorf("25 MiB from %s take %d bytes", name, peak)
		}
	}
}

type zeros struct{}

func (zeros) Read(part []byte) (int, error) { return len(part), nil }

// peakHeap returns by how many bytes the memory of the heap grows at most.
func peakHeap(work func()) uint64 {
	inUse := func() uint64 {
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return stats.HeapInuse
	}
	runtime.GC()
	before := inUse()
	done := make(chan bool)
	result := make(chan uint64)
	go func() {
		var peak uint64
		for {
			if now := inUse(); now > peak {
				peak = now
			}
			select {
			case <-done:
				result <- peak
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	work()
	close(done)
	return <-result - before
}
