package postrider

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"
)

const (
	firstTimeout    = 30 * time.Second
	bytesPerSecond  = 100_000
	defaultDeadline = 120 * time.Second
	// maxAnswerBytes is the maximum size of a JSON answer. Streams have none.
	maxAnswerBytes = 64 << 20
	// maxErrorBytes is the maximum that is read of an answer that reports an error.
	maxErrorBytes       = 1 << 20
	maxIdempotencyBytes = 256
)

// run is one call with its repeats.
type run struct {
	client   *Client
	ctx      context.Context
	request  *request
	url      *url.URL
	key      string
	timeout  time.Duration
	deadline time.Time
	isStream bool
}

// attempt is what is known of one try. Its hooks are called by other goroutines.
type attempt struct {
	cancel    context.CancelFunc
	timer     *time.Timer
	timedOut  atomic.Bool
	connected atomic.Bool
	reused    atomic.Bool
	gotByte   atomic.Bool
}

// answer is an answer with a good status: its body, or the stream that it is.
type answer struct {
	status int
	header http.Header
	body   []byte
	stream io.ReadCloser
	try    *attempt
}

// call makes a call whose answer is a JSON object.
func call[T any](ctx context.Context, client *Client, request *request, options []CallOption) (*T, error) {
	r, answer, failure := client.do(ctx, request, options, false)
	if failure != nil {
		return nil, failure
	}
	value := new(T)
	if err := decodeAnswer(answer.body, value, answerMeta{header: answer.header, idempotencyKey: r.key}); err != nil {
		failure := r.invalid(answer, "the answer is no JSON that this version of the library knows")
		failure.Cause = err
		return nil, failure
	}
	return value, nil
}

// callNone makes a call whose answer has no body.
func callNone(ctx context.Context, client *Client, request *request, options []CallOption) error {
	if _, _, failure := client.do(ctx, request, options, false); failure != nil {
		return failure
	}
	return nil
}

// do makes a call: it tries, and repeats what may be repeated.
func (c *Client) do(ctx context.Context, request *request, options []CallOption, isStream bool) (*run, *answer, *Error) {
	r, failure := c.newRun(ctx, request, options)
	if failure != nil {
		return nil, nil, failure
	}
	r.isStream = isStream
	isReplaced := false
	for repeats := 0; ; {
		try := &attempt{}
		if c.closed.Load() {
			return r, nil, r.lost(try, nil)
		}
		answer, failure := r.try(try)
		isRepeated := repeats > 0 || isReplaced
		if failure != nil && isRepeated && request.method == http.MethodDelete && failure.Status == http.StatusNotFound && failure.Type == "not_found" {
			return r, answer, nil
		}
		if failure == nil {
			return r, answer, nil
		}
		failure.IdempotencyKey = r.key
		if !mayRepeat(request.repeat, failure, c.isUnsent(try, failure)) || r.ctx.Err() != nil {
			return r, nil, failure
		}
		// A kept connection that the server has closed says nothing about the server.
		if failure.Type == ErrorConnection && try.reused.Load() && !try.gotByte.Load() && !isReplaced {
			isReplaced = true
			continue
		}
		repeats++
		pause := pauseBefore(repeats, failure)
		if repeats > c.settings.maxRetries || failure.RetryAfter > maxRetryAfter || time.Until(r.deadline) <= pause {
			return r, nil, failure
		}
		if !sleep(r.ctx, c.done, pause) {
			return r, nil, r.lost(try, r.ctx.Err())
		}
	}
}

func (c *Client) newRun(ctx context.Context, request *request, options []CallOption) (*run, *Error) {
	settings := callSettings{timeout: c.settings.timeout, deadline: c.settings.deadline}
	for _, option := range options {
		option(&settings)
	}
	if c.closed.Load() {
		return nil, &Error{Type: ErrorClosed, Message: "the client is closed"}
	}
	if request.failure != nil {
		return nil, request.failure
	}
	address := c.base + request.path
	if request.query != "" {
		address += "?" + request.query
	}
	parsed, err := url.Parse(address)
	if err != nil {
		return nil, invalidArgument("path", "the path cannot be sent")
	}
	key, failure := idempotencyKey(request.repeat, settings.idempotencyKey)
	if failure != nil {
		return nil, failure
	}
	r := &run{client: c, ctx: ctx, request: request, url: parsed, key: key, timeout: settings.timeout}
	if r.timeout <= 0 {
		r.timeout = firstTimeout
	}
	r.timeout += time.Duration(request.body.length()/bytesPerSecond) * time.Second
	if settings.deadline <= 0 {
		settings.deadline = maxDuration(defaultDeadline, 2*r.timeout)
	}
	r.deadline = time.Now().Add(settings.deadline)
	return r, nil
}

// idempotencyKey returns the key of a send: the caller's own, or a new one.
func idempotencyKey(repeat repeatRule, own string) (string, *Error) {
	if repeat != repeatKeyed {
		if own != "" {
			return "", invalidArgument("idempotencyKey", "only Emails.Send and Emails.SendBatch have an idempotency key")
		}
		return "", nil
	}
	if own == "" {
		var random [16]byte
		if _, err := rand.Read(random[:]); err != nil {
			return "", &Error{Type: ErrorConnection, Message: "the system has no random numbers", Cause: err}
		}
		return "go-" + hex.EncodeToString(random[:]), nil
	}
	if len(own) > maxIdempotencyBytes {
		return "", invalidArgument("idempotencyKey", "an idempotency key has at most 256 characters")
	}
	for _, letter := range []byte(own) {
		if letter < ' ' || letter > '~' {
			return "", invalidArgument("idempotencyKey", "an idempotency key consists of printable ASCII characters")
		}
	}
	return own, nil
}

// try sends the request once, and reads the answer, or its head when it is a stream.
func (r *run) try(try *attempt) (*answer, *Error) {
	ctx, cancel := context.WithCancel(r.ctx)
	try.cancel = cancel
	limit := r.timeout
	if rest := time.Until(r.deadline); rest < limit {
		limit = rest
	}
	try.timer = time.AfterFunc(limit, func() {
		try.timedOut.Store(true)
		cancel()
	})
	response, err := r.client.settings.transport.RoundTrip(r.httpRequest(ctx, try))
	if err != nil {
		try.end()
		return nil, r.lost(try, err)
	}
	if r.isStream && response.StatusCode < 300 {
		try.timer.Stop()
		return &answer{status: response.StatusCode, header: response.Header, stream: response.Body, try: try}, nil
	}
	defer try.end()
	defer response.Body.Close()
	return r.read(response, try)
}

func (try *attempt) end() {
	try.timer.Stop()
	try.cancel()
}

func (r *run) httpRequest(ctx context.Context, try *attempt) *http.Request {
	trace := &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) {
			try.reused.Store(info.Reused)
			try.connected.Store(true)
		},
		GotFirstResponseByte: func() { try.gotByte.Store(true) },
	}
	header := http.Header{
		"User-Agent":      {"postrider-go/" + Version},
		"Accept-Encoding": {"identity"},
	}
	request := (&http.Request{
		Method: r.request.method, URL: r.url, Host: r.url.Host, Header: header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(httptrace.WithClientTrace(ctx, trace))
	r.client.authorize(header)
	if r.key != "" {
		header.Set("Idempotency-Key", r.key)
	}
	if body := r.request.body; body != nil {
		header.Set("Content-Type", body.contentType)
		request.ContentLength = body.size
		request.Body = body.open()
		request.GetBody = func() (io.ReadCloser, error) { return body.open(), nil }
	}
	return request
}

// read reads a whole answer.
func (r *run) read(response *http.Response, try *attempt) (*answer, *Error) {
	limit := int64(maxAnswerBytes)
	isGood := response.StatusCode >= 200 && response.StatusCode < 300
	if !isGood {
		limit = maxErrorBytes
	}
	body, err := readAtMost(response, limit)
	got := &answer{status: response.StatusCode, header: response.Header, body: body}
	switch {
	case errors.Is(err, errTooLarge):
		if isGood {
			return nil, r.invalid(got, "the answer has more than 64 MiB")
		}
	case err != nil:
		return nil, r.lost(try, err)
	}
	if !isGood {
		return nil, answerError(got.status, got.header, body, r.client.hide)
	}
	if isObject(body) || (got.status == http.StatusNoContent && len(body) == 0) {
		return got, nil
	}
	return nil, answerError(got.status, got.header, body, r.client.hide)
}

var errTooLarge = errors.New("too large")

func readAtMost(response *http.Response, limit int64) ([]byte, error) {
	if response.ContentLength > limit {
		return nil, errTooLarge
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, limit+1))
	if err == nil && int64(len(body)) > limit {
		return body[:limit], errTooLarge
	}
	return body, err
}

// isObject is true when a text begins like a JSON object. Its end is checked when it is decoded.
func isObject(text []byte) bool {
	for _, letter := range text {
		switch letter {
		case ' ', '\t', '\r', '\n':
		default:
			return letter == '{'
		}
	}
	return false
}

// lost is the error of a try without a whole answer.
func (r *run) lost(try *attempt, err error) *Error {
	failure := &Error{Type: ErrorConnection, IdempotencyKey: r.key, Cause: err}
	switch {
	case r.client.closed.Load():
		failure.Type, failure.Message = ErrorClosed, "the client was closed during the call"
	case errors.Is(r.ctx.Err(), context.Canceled):
		failure.Type, failure.Message, failure.Cause = ErrorCanceled, "the call was canceled", context.Canceled
	case try.timedOut.Load() || r.ctx.Err() != nil:
		failure.Type, failure.Message, failure.Cause = ErrorTimeout, "the server did not answer in time", context.DeadlineExceeded
	default:
		failure.Message = "no whole answer came from " + r.url.Host + ": " + r.client.hide(err.Error())
	}
	return failure
}

func (r *run) invalid(got *answer, message string) *Error {
	return &Error{
		Type: ErrorInvalidResponse, Status: got.status, Message: message, IdempotencyKey: r.key,
		RequestID: got.header.Get("X-Request-Id"), Header: hideHeader(got.header, r.client.hide),
	}
}

func (b *body) length() int64 {
	if b == nil {
		return 0
	}
	return b.size
}

func maxDuration(a, b time.Duration) time.Duration {
	if a > b {
		return a
	}
	return b
}
