package postrider

import (
	"net/http"
	"time"
)

// Option changes how a client works.
type Option func(*settings)

type settings struct {
	baseURL    string
	maxRetries int
	timeout    time.Duration
	deadline   time.Duration
	transport  http.RoundTripper
}

// WithBaseURL sets the address of the daemon, such as "https://mail.example.com". The default is the environment variable SERVICE_BASE_URL.
func WithBaseURL(address string) Option { return func(s *settings) { s.baseURL = address } }

// WithMaxRetries sets how often a request is repeated. The default is 2.
func WithMaxRetries(count int) Option { return func(s *settings) { s.maxRetries = count } }

// WithTimeout sets the time of one try, which has one second more for each 100 kB of its body. The default is 30 seconds.
func WithTimeout(limit time.Duration) Option { return func(s *settings) { s.timeout = limit } }

// WithDeadline sets the time of a whole call with its repeats. The default is 120 seconds, or the time of two tries where that is longer.
func WithDeadline(limit time.Duration) Option { return func(s *settings) { s.deadline = limit } }

// WithTransport replaces the connections of the client, such as for a proxy or in tests. It must not follow redirects.
// That a request never left is known only from an error with a *net.OpError of "dial", so that other errors repeat no POST but sends.
func WithTransport(transport http.RoundTripper) Option {
	return func(s *settings) { s.transport = transport }
}

// CallOption changes how one call works.
type CallOption func(*callSettings)

type callSettings struct {
	idempotencyKey string
	timeout        time.Duration
	deadline       time.Duration
}

// IdempotencyKey sets the key of a send, instead of one that is made for the call. The daemon accepts one email for each key in 24 hours.
func IdempotencyKey(key string) CallOption { return func(s *callSettings) { s.idempotencyKey = key } }

// Timeout sets the time of one try of this call, which has one second more for each 100 kB of its body.
func Timeout(limit time.Duration) CallOption { return func(s *callSettings) { s.timeout = limit } }

// Deadline sets the time of this whole call with its repeats.
func Deadline(limit time.Duration) CallOption { return func(s *callSettings) { s.deadline = limit } }
