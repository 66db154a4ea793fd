package postrider

import (
	"encoding/json"
	"net/http"
)

// Answer is part of every answer. It has what the types of this package do not know yet.
type Answer struct{ meta *answerMeta }

type answerMeta struct {
	raw            json.RawMessage
	header         http.Header
	idempotencyKey string
}

// RawJSON returns the answer as it was sent, with fields that this version of the library does not know.
func (a Answer) RawJSON() json.RawMessage {
	if a.meta == nil {
		return nil
	}
	return a.meta.raw
}

// Header returns the header of the answer.
func (a Answer) Header() http.Header {
	if a.meta == nil {
		return nil
	}
	return a.meta.header
}

// IdempotencyKey returns the key with which an email or a batch was sent.
func (a Answer) IdempotencyKey() string {
	if a.meta == nil {
		return ""
	}
	return a.meta.idempotencyKey
}

// RequestID returns the X-Request-Id of the answer.
func (a Answer) RequestID() string { return a.Header().Get("X-Request-Id") }

func (a *Answer) setMeta(meta *answerMeta) { a.meta = meta }

// answered is what every struct with an Answer has.
type answered interface{ setMeta(*answerMeta) }

func decodeAnswer(raw []byte, into any, meta answerMeta) error {
	if err := json.Unmarshal(raw, into); err != nil {
		return err
	}
	if answer, ok := into.(answered); ok {
		meta.raw = raw
		answer.setMeta(&meta)
	}
	return nil
}
