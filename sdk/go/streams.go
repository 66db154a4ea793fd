package postrider

import (
	"context"
	"io"
	"net/http"
	"time"
)

// Stream is a file that is read as it arrives. It must be closed. It has no limit of size, and each part has the time of a try.
type Stream struct {
	// Header is the header of the answer, such as Content-Type.
	Header http.Header
	run    *run
	body   io.ReadCloser
	try    *attempt
}

var _ io.ReadCloser = (*Stream)(nil)

func callStream(ctx context.Context, client *Client, request *request, options []CallOption) (*Stream, error) {
	r, answer, failure := client.do(ctx, request, options, true)
	if failure != nil {
		return nil, failure
	}
	return &Stream{Header: answer.header, run: r, body: answer.stream, try: answer.try}, nil
}

// Read reads the next part. A stream that is cut off ends with an *Error, and never with io.EOF.
func (s *Stream) Read(part []byte) (int, error) {
	timer := time.AfterFunc(s.run.timeout, func() {
		s.try.timedOut.Store(true)
		s.try.cancel()
	})
	defer timer.Stop()
	count, err := s.body.Read(part)
	if err != nil && err != io.EOF {
		return count, s.run.lost(s.try, err)
	}
	return count, err
}

// Close ends the stream, and the connection when not all was read.
func (s *Stream) Close() error {
	s.try.cancel()
	return s.body.Close()
}
