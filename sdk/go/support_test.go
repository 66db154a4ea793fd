package postrider

import (
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

const testKey = "svc_dev_0123456789abcdef"

func newTestClient(t *testing.T, address string, options ...Option) *Client {
	t.Helper()
	client, err := New(testKey, append([]Option{WithBaseURL(address)}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

// countingServer is a server that knows its connections.
type countingServer struct {
	*httptest.Server
	mutex sync.Mutex
	open  map[net.Conn]bool
	made  int
	most  int
}

func newServer(t *testing.T, handler http.HandlerFunc) *countingServer {
	t.Helper()
	server := &countingServer{open: map[net.Conn]bool{}}
	server.Server = httptest.NewUnstartedServer(handler)
	server.Config.ConnState = func(conn net.Conn, state http.ConnState) {
		server.mutex.Lock()
		defer server.mutex.Unlock()
		switch state {
		case http.StateNew:
			server.open[conn] = true
			server.made++
		case http.StateClosed, http.StateHijacked:
			delete(server.open, conn)
		}
		if len(server.open) > server.most {
			server.most = len(server.open)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	return server
}

// counts returns how many connections were made, how many were open at once, and how many are open.
func (s *countingServer) counts() (made, most, open int) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.made, s.most, len(s.open)
}

func answerJSON(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body))
}
