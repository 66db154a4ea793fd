package postrider

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"
)

func TestAStreamIsReadAsItArrives(t *testing.T) {
	next := make(chan bool)
	server := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/csv")
		for _, part := range []string{"first", "second"} {
			_, _ = w.Write([]byte(part))
			w.(http.Flusher).Flush()
			<-next
		}
	})
	client := newTestClient(t, server.URL, WithDeadline(time.Second))
	stream, err := client.Exports.GetFile(context.Background(), "exp_1")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	if stream.Header.Get("Content-Type") != "text/csv" {
		t.Errorf("the header is %v", stream.Header)
	}
	part := make([]byte, 100)
	if count, err := stream.Read(part); err != nil || string(part[:count]) != "first" {
		t.Errorf("%q, %v", part[:count], err)
	}
	// The deadline of a call ends with the head of a stream.
	time.Sleep(1100 * time.Millisecond)
	close(next)
	if rest, err := io.ReadAll(stream); err != nil || string(rest) != "second" {
		t.Errorf("%q, %v", rest, err)
	}
}

func TestAStreamThatStopsMeetsTheTimeOfATry(t *testing.T) {
	server := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("first"))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	client := newTestClient(t, server.URL, WithTimeout(500*time.Millisecond))
	stream, err := client.Emails.GetRaw(context.Background(), "em_1", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	_, err = io.ReadAll(stream)
	if problem := compareError(map[string]any{"type": ErrorTimeout}, err); problem != "" {
		t.Error(problem)
	}
}

func TestAStreamThatIsClosedEarlyEndsItsConnection(t *testing.T) {
	server := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	})
	client := newTestClient(t, server.URL)
	stream, err := client.Inbound.Messages.GetRaw(context.Background(), "in_1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(stream, make([]byte, 1<<20)); err != nil {
		t.Error(err)
	}
	if err := stream.Close(); err != nil {
		t.Error(err)
	}
	if _, err := stream.Read(make([]byte, 1)); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("reading after Close gives %v", err)
	}
	expectNoneOpen(t, server)
}

func TestAStreamEndsWithItsContext(t *testing.T) {
	server := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("first"))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	client := newTestClient(t, server.URL)
	ctx, cancel := context.WithCancel(context.Background())
	stream, err := client.Emails.GetAttachment(ctx, "em_1", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	time.AfterFunc(50*time.Millisecond, cancel)
	_, err = io.ReadAll(stream)
	if problem := compareError(map[string]any{"type": ErrorCanceled}, err); problem != "" {
		t.Error(problem)
	}
}
