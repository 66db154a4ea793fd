package postrider

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
)

// body is the encoded body of a request. It consists of parts, because a large file is never copied into one piece.
type body struct {
	contentType string
	parts       [][]byte
	size        int64
}

func (b *body) add(part []byte) {
	b.parts = append(b.parts, part)
	b.size += int64(len(part))
}

// open returns a reader of the whole body. Each try has its own.
func (b *body) open() io.ReadCloser {
	if len(b.parts) == 1 {
		return io.NopCloser(bytes.NewReader(b.parts[0]))
	}
	readers := make([]io.Reader, len(b.parts))
	for i, part := range b.parts {
		readers[i] = bytes.NewReader(part)
	}
	return io.NopCloser(io.MultiReader(readers...))
}

// encodeJSON encodes a value, and puts the contents of its attachments in their places.
func encodeJSON(value any) (*body, *Error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		failure := invalidArgument("body", "the body cannot be encoded: "+err.Error())
		failure.Cause = err
		return nil, failure
	}
	encoded := &body{contentType: "application/json"}
	text := bytes.TrimSuffix(buffer.Bytes(), []byte("\n"))
	for index, content := range contentsOf(value) {
		before, after, found := bytes.Cut(text, []byte(content.placeholder()))
		if !found {
			continue
		}
		blocks, err := content.encode()
		if err != nil {
			failure := invalidArgument("attachments", "content number "+strconv.Itoa(index+1)+" cannot be read: "+err.Error())
			failure.Cause = err
			return nil, failure
		}
		encoded.add(before)
		for _, block := range blocks {
			encoded.add(block)
		}
		text = after
	}
	encoded.add(text)
	return encoded, nil
}
