package postrider

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"
)

// The types of errors that the library makes itself. All other types are codes of the daemon, such as "not_found".
const (
	ErrorConnection       = "connection_error"  // no answer, because the connection failed
	ErrorTimeout          = "timeout"           // a try, or the whole call, took too long
	ErrorCanceled         = "canceled"          // the context of the call was canceled
	ErrorHTTP             = "http_error"        // a status from 400 without an error of the daemon, such as a page of a proxy
	ErrorInvalidResponse  = "invalid_response"  // an answer that is cut off, too large, a redirect or no JSON
	ErrorInsecureBaseURL  = "insecure_base_url" // a live key would cross a network in the clear
	ErrorInvalidArgument  = "invalid_argument"  // nothing was sent, because an argument is wrong
	ErrorInvalidSignature = "invalid_signature" // a webhook that is not from the daemon, or is too old
	ErrorClosed           = "closed"            // the client was closed
)

// maxBodyInMessage is the maximum number of characters of a foreign body in the message of an error.
const maxBodyInMessage = 200

// Issue is one field of a request that is wrong.
type Issue struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

// Error is the one type of error that this package returns. Use errors.As to get it.
type Error struct {
	// Type is the code of the daemon, or one of the constants of this package.
	Type string
	// Status is the HTTP status, 0 when there was no answer.
	Status int
	// Message is a sentence for people.
	Message string
	// Param is the field that the error is about, such as "to[1]".
	Param string
	// Issues are the wrong fields, and what is wrong with each.
	Issues []Issue
	// Details are for programs; each type has its own fields.
	Details map[string]json.RawMessage
	// RequestID is the X-Request-Id of the answer.
	RequestID string
	// RetryAfter is the time after which the daemon may be asked again.
	RetryAfter time.Duration
	// Header is the header of the answer, nil when there was none.
	Header http.Header
	// IdempotencyKey is the key of a send. Send again with it to learn what became of the first one.
	IdempotencyKey string
	// Cause is what the language or the system said. It is also the result of Unwrap.
	Cause error
}

// Error returns one line with the type, the status, the message and the id of the request.
func (e *Error) Error() string {
	var text strings.Builder
	text.WriteString("postrider: " + e.Type)
	if e.Status != 0 {
		fmt.Fprintf(&text, " (%d)", e.Status)
	}
	text.WriteString(": " + e.Message)
	if e.RequestID != "" {
		text.WriteString(" (request " + e.RequestID + ")")
	}
	return text.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

func invalidArgument(param, message string) *Error {
	return &Error{Type: ErrorInvalidArgument, Param: param, Message: message}
}

// answerError makes the error of an answer from its status, its header and what was read of its body.
func answerError(status int, header http.Header, body []byte, hide func(string) string) *Error {
	failure := &Error{Status: status, Header: hideHeader(header, hide), RequestID: header.Get("X-Request-Id")}
	failure.RetryAfter = retryAfter(header, time.Now())
	var problem struct {
		Error struct {
			Type, Message, Param, RequestID string
			Issues                          []Issue
			Details                         map[string]json.RawMessage
		}
	}
	if json.Unmarshal(body, &problem) == nil && problem.Error.Type != "" {
		failure.Type, failure.Message, failure.Param = problem.Error.Type, hide(problem.Error.Message), problem.Error.Param
		failure.Issues, failure.Details = problem.Error.Issues, problem.Error.Details
		if failure.RequestID == "" {
			failure.RequestID = problem.Error.RequestID
		}
		return failure
	}
	failure.Type = ErrorInvalidResponse
	if status >= 400 {
		failure.Type = ErrorHTTP
	}
	failure.Message = foreignAnswer(status, body, hide)
	return failure
}

func foreignAnswer(status int, body []byte, hide func(string) string) string {
	message := fmt.Sprintf("the server answered %d", status)
	if name := http.StatusText(status); name != "" {
		message += " " + name
	}
	text := strings.Join(strings.Fields(hide(strings.ToValidUTF8(string(body), "\uFFFD"))), " ")
	if text == "" {
		return message + " without a body"
	}
	return message + ": " + firstCharacters(text, maxBodyInMessage)
}

func firstCharacters(text string, limit int) string {
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	return string([]rune(text)[:limit]) + "…"
}

// hideHeader copies a header without the key, which a proxy may have echoed.
func hideHeader(header http.Header, hide func(string) string) http.Header {
	copied := header.Clone()
	for _, values := range copied {
		for i := range values {
			values[i] = hide(values[i])
		}
	}
	return copied
}
