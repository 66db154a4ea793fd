package postrider

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
)

const (
	// blockBytes is the size of the pieces that a file is kept in. It is a multiple of 3, so that pieces of base64 can be put together.
	blockBytes = 192 * 1024
	// maxFileBytes is the maximum size of an attachment or an upload. The daemon refuses what is far smaller.
	maxFileBytes = 256 << 20
)

// Content is the content of an attachment. It is read and encoded once, when the first email with it is sent, and can be sent again.
type Content struct {
	id     uint64
	reader io.Reader
	text   string
	once   sync.Once
	blocks [][]byte
	err    error
}

var lastContent atomic.Uint64

// placeholderPrefix stands in the JSON of an email where the content is put. It is random, so that no text of an email has it.
var placeholderPrefix = func() string {
	var random [16]byte
	if _, err := rand.Read(random[:]); err != nil {
		panic(err)
	}
	return "content-" + hex.EncodeToString(random[:]) + "-"
}()

// FromReader takes the content from a file or a stream, which is read to its end and is not closed.
func FromReader(reader io.Reader) *Content {
	return &Content{id: lastContent.Add(1), reader: reader}
}

// FromBytes takes the content from memory.
func FromBytes(content []byte) *Content { return FromReader(bytes.NewReader(content)) }

// FromBase64 takes content that is in base64 already.
func FromBase64(text string) *Content { return &Content{text: text} }

// MarshalJSON writes base64 text, or a placeholder of what is encoded later.
func (c *Content) MarshalJSON() ([]byte, error) {
	if c.reader != nil {
		return []byte(`"` + c.placeholder() + `"`), nil
	}
	return json.Marshal(c.text)
}

// UnmarshalJSON reads base64 text.
func (c *Content) UnmarshalJSON(text []byte) error { return json.Unmarshal(text, &c.text) }

func (c *Content) placeholder() string {
	return placeholderPrefix + strconv.FormatUint(c.id, 10) + "-"
}

func (c *Content) encode() ([][]byte, error) {
	c.once.Do(func() { c.blocks, c.err = readBlocks(c.reader, base64.StdEncoding) })
	return c.blocks, c.err
}

// contentsOf returns the contents of the attachments of a body that are not encoded yet.
func contentsOf(value any) []*Content {
	var contents []*Content
	collect := func(email *SendEmailBody) {
		for _, attachment := range email.Attachments {
			if attachment.Content != nil && attachment.Content.reader != nil {
				contents = append(contents, attachment.Content)
			}
		}
	}
	switch body := value.(type) {
	case *SendEmailBody:
		collect(body)
	case *SendBatchBody:
		for i := range body.Emails {
			collect(&body.Emails[i])
		}
	}
	return contents
}

// readBlocks reads to the end, in pieces that are encoded one by one. Without an encoding they stay as they are.
func readBlocks(reader io.Reader, encoding *base64.Encoding) ([][]byte, error) {
	var blocks [][]byte
	block := make([]byte, blockBytes)
	for total := 0; ; {
		count, err := io.ReadFull(reader, block)
		if total += count; total > maxFileBytes {
			return nil, fmt.Errorf("it has more than %d bytes", maxFileBytes)
		}
		if count > 0 {
			blocks = append(blocks, encodeBlock(block[:count], encoding))
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return blocks, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func encodeBlock(block []byte, encoding *base64.Encoding) []byte {
	if encoding == nil {
		return append([]byte(nil), block...)
	}
	encoded := make([]byte, encoding.EncodedLen(len(block)))
	encoding.Encode(encoded, block)
	return encoded
}
