package postrider

import (
	"io"
	"net/url"
	"reflect"
	"strconv"
	"strings"
)

// repeatRule says after which failures an operation is repeated.
type repeatRule int

const (
	// repeatUnsent repeats what surely did nothing.
	repeatUnsent repeatRule = iota
	// repeatAlways repeats after every failure that may pass, because doing it twice is the same as once.
	repeatAlways
	// repeatKeyed is repeatAlways for a send, which has an idempotency key.
	repeatKeyed
)

// request is one call before it is sent. A failure of its arguments is kept until then.
type request struct {
	method  string
	path    string
	query   string
	repeat  repeatRule
	body    *body
	failure *Error
}

// newRequest fills the parameters of a path, such as {id}, with arguments in their order.
func newRequest(method, template string, arguments ...string) *request {
	r := &request{method: method}
	if method != "POST" {
		r.repeat = repeatAlways
	}
	var path strings.Builder
	for _, argument := range arguments {
		start := strings.IndexByte(template, '{')
		end := strings.IndexByte(template, '}')
		name := template[start+1 : end]
		if argument == "" || argument == "." || argument == ".." {
			r.failure = invalidArgument(name, name+" must not be empty or consist of dots, because that would ask another path")
		}
		path.WriteString(template[:start] + escapeSegment(argument))
		template = template[end+1:]
	}
	path.WriteString(template)
	r.path = path.String()
	return r
}

// with adds a JSON body. Nil stands for an absent one.
func (r *request) with(value any) *request {
	if value != nil && !isNil(value) {
		r.setBody(encodeJSON(value))
	}
	return r
}

// upload adds the file of an import.
func (r *request) upload(file io.Reader) *request {
	r.setBody(csvBody(file))
	return r
}

func (r *request) setBody(encoded *body, failure *Error) {
	r.body = encoded
	if failure != nil && r.failure == nil {
		r.failure = failure
	}
}

func (r *request) keyed() *request {
	r.repeat = repeatKeyed
	return r
}

func (r *request) ask(query any) *request {
	if query != nil && !isNil(query) {
		r.query = encodeQuery(query)
	}
	return r
}

func isNil(value any) bool {
	v := reflect.ValueOf(value)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// escapeSegment percent-encodes all but the unreserved characters of RFC 3986.
func escapeSegment(segment string) string {
	const hex = "0123456789ABCDEF"
	var escaped strings.Builder
	for i := 0; i < len(segment); i++ {
		c := segment[i]
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0 {
			escaped.WriteByte(c)
		} else {
			escaped.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
	}
	return escaped.String()
}

// encodeQuery writes the fields of a query struct that are set. Their names are those of their JSON tags.
func encodeQuery(query any) string {
	values := url.Values{}
	v := reflect.Indirect(reflect.ValueOf(query))
	for i := 0; i < v.NumField(); i++ {
		field := v.Field(i)
		if field.IsZero() {
			continue
		}
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		values.Set(name, queryText(reflect.Indirect(field)))
	}
	return strings.ReplaceAll(values.Encode(), "+", "%20")
}

func queryText(value reflect.Value) string {
	switch value.Kind() {
	case reflect.Bool:
		return strconv.FormatBool(value.Bool())
	case reflect.Int64:
		return strconv.FormatInt(value.Int(), 10)
	default:
		return value.String()
	}
}

func getQuery(query, name string) string {
	values, _ := url.ParseQuery(query)
	return values.Get(name)
}

func setQuery(query, name, value string) string {
	values, _ := url.ParseQuery(query)
	values.Set(name, value)
	return strings.ReplaceAll(values.Encode(), "+", "%20")
}
