package postrider

import (
	"encoding/json"
	"io"
)

// ImportResult is the answer to an upload: the import that has begun, or what it would do when the query had Preview.
type ImportResult[P any] struct {
	Import
	// Preview is nil unless the query had Preview.
	Preview *P
}

// UnmarshalJSON tells a preview by its columns.
func (r *ImportResult[P]) UnmarshalJSON(text []byte) error {
	var preview struct{ Columns json.RawMessage }
	if err := json.Unmarshal(text, &preview); err != nil {
		return err
	}
	if preview.Columns == nil {
		return json.Unmarshal(text, &r.Import)
	}
	r.Preview = new(P)
	return json.Unmarshal(text, r.Preview)
}

// MarshalJSON writes the preview when there is one, and else the import.
func (r ImportResult[P]) MarshalJSON() ([]byte, error) {
	if r.Preview != nil {
		return json.Marshal(r.Preview)
	}
	return json.Marshal(r.Import)
}

// csvBody reads a file that is uploaded.
func csvBody(file io.Reader) (*body, *Error) {
	if file == nil {
		return nil, invalidArgument("file", "a file is required")
	}
	blocks, err := readBlocks(file, nil)
	if err != nil {
		failure := invalidArgument("file", "the file cannot be read: "+err.Error())
		failure.Cause = err
		return nil, failure
	}
	encoded := &body{contentType: "text/csv"}
	for _, block := range blocks {
		encoded.add(block)
	}
	return encoded, nil
}
