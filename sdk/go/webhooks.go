package postrider

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// SignatureHeader is the header that has the signature of a webhook and of a post to an inbound route.
const SignatureHeader = "X-Service-Signature"

// DefaultTolerance is how far the time of a webhook may be from the clock.
const DefaultTolerance = 300 * time.Second

// Event is the body of a webhook. A post to an inbound route has other fields: decode Raw for it.
type Event struct {
	ID        string          `json:"id"`
	Type      string          `json:"type"`
	CreatedAt string          `json:"createdAt"`
	Mode      string          `json:"mode"`
	Data      json.RawMessage `json:"data"`
	// Raw is the whole body as it was signed.
	Raw json.RawMessage `json:"-"`
}

// VerifyWebhook checks the signature of a webhook, or of a post to an inbound route, and returns the event. Nothing is parsed before the signature is right.
// body are the bytes as they arrived. Every failure has the type "invalid_signature".
func VerifyWebhook(body []byte, header, secret string, tolerance time.Duration) (*Event, error) {
	return verifyAt(body, header, secret, tolerance, time.Now())
}

// SignWebhook returns the header of a body, for tests of a receiver.
func SignWebhook(body []byte, secret string, at time.Time) string {
	seconds := strconv.FormatInt(at.Unix(), 10)
	return "t=" + seconds + ",v1=" + signature(body, seconds, secret)
}

func verifyAt(body []byte, header, secret string, tolerance time.Duration, now time.Time) (*Event, error) {
	seconds, signatures := parseSignature(header)
	at, err := strconv.ParseUint(seconds, 10, 62)
	switch {
	case secret == "":
		return nil, invalidSignature("the secret is empty")
	case err != nil || len(signatures) == 0:
		return nil, invalidSignature("the header lacks a time or a signature")
	case distance(int64(at), now.Unix()) > int64(tolerance/time.Second):
		return nil, invalidSignature("the time of the signature is too far from the clock")
	}
	isRight := 0
	expected := []byte(signature(body, seconds, secret))
	for _, one := range signatures {
		isRight |= subtle.ConstantTimeCompare([]byte(one), expected)
	}
	if isRight == 0 {
		return nil, invalidSignature("no signature is that of the body")
	}
	event := &Event{Raw: append(json.RawMessage(nil), body...)}
	if err := json.Unmarshal(body, event); err != nil {
		return nil, &Error{Type: ErrorInvalidSignature, Message: "the body is no JSON object", Cause: err}
	}
	return event, nil
}

func parseSignature(header string) (seconds string, signatures []string) {
	for _, part := range strings.Split(header, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "t":
			seconds = value
		case "v1":
			signatures = append(signatures, value)
		}
	}
	return seconds, signatures
}

func signature(body []byte, seconds, secret string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(seconds + "."))
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

func distance(a, b int64) int64 {
	if a < b {
		return b - a
	}
	return a - b
}

func invalidSignature(message string) *Error {
	return &Error{Type: ErrorInvalidSignature, Message: message}
}
