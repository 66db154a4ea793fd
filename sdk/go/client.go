package postrider

import (
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
)

// Version is the version of this library.
const Version = "0.1.0"

// testKeyPrefix begins every key that delivers nothing. All other keys are live.
const testKeyPrefix = "svc_dev_"

// Client calls one daemon with one key. It may be used by many goroutines at once. Close ends its connections.
type Client struct {
	services
	settings settings
	base     string
	// The key is known to closures alone, so that no dump of a client shows it.
	authorize func(http.Header)
	hide      func(string) string
	pool      *pool
	closed    atomic.Bool
	// done is closed together with the client, which wakes the calls that pause.
	done chan struct{}
}

// New makes a client. An empty key stands for the environment variable SERVICE_API_KEY.
func New(key string, options ...Option) (*Client, error) {
	client := &Client{settings: settings{maxRetries: 2}, done: make(chan struct{})}
	for _, option := range options {
		option(&client.settings)
	}
	if key == "" {
		key = os.Getenv("SERVICE_API_KEY")
	}
	if client.settings.baseURL == "" {
		client.settings.baseURL = os.Getenv("SERVICE_BASE_URL")
	}
	if failure := checkKey(key); failure != nil {
		return nil, failure
	}
	base, failure := checkBaseURL(client.settings.baseURL, key)
	if failure != nil {
		return nil, failure
	}
	if client.settings.maxRetries < 0 || client.settings.timeout < 0 || client.settings.deadline < 0 {
		return nil, invalidArgument("options", "retries, timeout and deadline must not be negative")
	}
	client.base = base
	client.authorize = func(header http.Header) { header.Set("Authorization", "Bearer "+key) }
	client.hide = func(text string) string { return strings.ReplaceAll(text, key, "[key]") }
	if client.settings.transport == nil {
		client.pool = newPool()
		client.settings.transport = client.pool.transport
	}
	client.services = newServices(client)
	return client, nil
}

// Close ends all connections, also those in use. Calls after it fail with the type "closed". It always returns nil.
func (c *Client) Close() error {
	if !c.closed.Swap(true) {
		close(c.done)
	}
	if c.pool != nil {
		c.pool.close()
	} else if idle, ok := c.settings.transport.(interface{ CloseIdleConnections() }); ok {
		idle.CloseIdleConnections()
	}
	return nil
}

// String names the address of the daemon, and never the key.
func (c *Client) String() string { return "postrider.Client(" + c.base + ")" }

func checkKey(key string) *Error {
	if key == "" {
		return invalidArgument("key", "an API key is required: pass it, or set SERVICE_API_KEY")
	}
	for _, letter := range []byte(key) {
		if letter <= ' ' || letter > '~' {
			return invalidArgument("key", "the API key has a character that no key has, such as a space or a line break")
		}
	}
	return nil
}

func checkBaseURL(address, key string) (string, *Error) {
	if address == "" {
		return "", invalidArgument("baseUrl", "the address of the daemon is required: use WithBaseURL, or set SERVICE_BASE_URL")
	}
	parsed, err := url.Parse(address)
	if err != nil || (parsed.Scheme != "https" && parsed.Scheme != "http") || parsed.Hostname() == "" {
		return "", invalidArgument("baseUrl", "the address of the daemon must be a URL such as https://mail.example.com")
	}
	if parsed.User != nil || parsed.RawQuery != "" || parsed.Fragment != "" {
		return "", invalidArgument("baseUrl", "the address of the daemon must not have a user, a query or a fragment")
	}
	if parsed.Scheme == "http" && !strings.HasPrefix(key, testKeyPrefix) && !isLoopback(parsed.Hostname()) {
		return "", &Error{Type: ErrorInsecureBaseURL, Message: "a live key is sent to another machine over https only"}
	}
	return strings.TrimRight(parsed.String(), "/"), nil
}

func isLoopback(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.Unmap().IsLoopback()
}
