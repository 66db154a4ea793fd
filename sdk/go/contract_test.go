package postrider

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
)

// named is one line of contract/operations.json.
type named struct {
	ID, Call, Method, Path, Body, Answer, Repeat string
	Query, BodyOptional                          bool
}

// contractFile reads a file of the contract, or skips the test where there is none.
func contractFile(t *testing.T, name string, into any) {
	t.Helper()
	folder := os.Getenv("CONTRACT_DIR")
	if folder == "" {
		folder = filepath.Join("..", "contract")
	}
	text, err := os.ReadFile(filepath.Join(folder, name))
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("the contract is not here")
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

var initialisms = regexp.MustCompile(`^(Api|Csv|Dkim)(s?)$`)
var words = regexp.MustCompile(`[A-Z]?[a-z0-9]+`)

// goCall returns the name of an operation in Go: APIKeys.Create for apiKeys.create.
func goCall(call string) string {
	parts := strings.Split(call, ".")
	for i, part := range parts {
		parts[i] = words.ReplaceAllStringFunc(part, func(word string) string {
			word = strings.ToUpper(word[:1]) + word[1:]
			if match := initialisms.FindStringSubmatch(word); match != nil {
				return strings.ToUpper(match[1]) + match[2]
			}
			return word
		})
	}
	return strings.Join(parts, ".")
}

func methodOf(client *Client, call string) (reflect.Value, error) {
	parts := strings.Split(goCall(call), ".")
	value := reflect.ValueOf(client)
	for _, part := range parts[:len(parts)-1] {
		if value = reflect.Indirect(value).FieldByName(part); !value.IsValid() {
			return value, fmt.Errorf("there is no service %s", call)
		}
	}
	method := value.MethodByName(parts[len(parts)-1])
	if !method.IsValid() {
		return method, fmt.Errorf("there is no method %s", call)
	}
	return method, nil
}

func TestEveryOperationHasAMethodAndEveryMethodAnOperation(t *testing.T) {
	var operations []named
	contractFile(t, "operations.json", &operations)
	client := newTestClient(t, "http://localhost")
	expected := map[string]bool{}
	for _, operation := range operations {
		expected[goCall(operation.Call)] = true
		method, err := methodOf(client, operation.Call)
		if err != nil {
			t.Error(err)
			continue
		}
		if problem := shapeProblem(operation, method.Type()); problem != "" {
			t.Errorf("%s: %s", operation.Call, problem)
		}
	}
	for _, name := range methodsBelow(reflect.ValueOf(client.services), "") {
		if !expected[name] {
			t.Errorf("%s is no operation", name)
		}
	}
}

func methodsBelow(value reflect.Value, prefix string) []string {
	var names []string
	for i := 0; i < value.NumField(); i++ {
		field := value.Type().Field(i)
		if !field.IsExported() {
			continue
		}
		service := value.Field(i)
		for j := 0; j < service.NumMethod(); j++ {
			names = append(names, prefix+field.Name+"."+service.Type().Method(j).Name)
		}
		names = append(names, methodsBelow(service.Elem(), prefix+field.Name+".")...)
	}
	return names
}

// shapeProblem compares the parameters and the result of a method with the operation.
func shapeProblem(operation named, method reflect.Type) string {
	count := 1 + strings.Count(operation.Path, "{")
	if operation.Body != "" {
		count++
	}
	if operation.Query {
		count++
	}
	if method.NumIn() != count+1 || !method.IsVariadic() {
		return fmt.Sprintf("it has %d parameters instead of %d", method.NumIn(), count+1)
	}
	result := method.Out(0).String()
	isRight := map[string]bool{
		"none":   result == "error",
		"page":   strings.HasPrefix(result, "*postrider.Pager["),
		"stream": result == "*postrider.Stream",
		"json":   strings.HasPrefix(result, "*postrider.") && method.NumOut() == 2 && result != "*postrider.Stream",
	}[operation.Answer]
	if !isRight {
		return "it returns " + result + " for " + operation.Answer
	}
	return ""
}

// outcome is what a call gave, as JSON and as text.
type outcome struct {
	value any
	text  string
	items int
	typed any
	err   error
}

// invoke makes a call of the contract by its name. Its arguments are decoded into the types of the parameters, and unknown fields are refused.
func invoke(ctx context.Context, client *Client, call string, args []json.RawMessage, items bool, options []CallOption) outcome {
	method, err := methodOf(client, call)
	if err != nil {
		return outcome{err: err}
	}
	in := []reflect.Value{reflect.ValueOf(ctx)}
	for i := 1; i < method.Type().NumIn()-1; i++ {
		argument := json.RawMessage("null")
		if i <= len(args) {
			argument = args[i-1]
		}
		value, err := decodeArgument(argument, method.Type().In(i))
		if err != nil {
			return outcome{err: fmt.Errorf("argument %d of %s: %w", i, call, err)}
		}
		in = append(in, value)
	}
	if len(args) > len(in)-1 {
		return outcome{err: fmt.Errorf("%s has more arguments than parameters", call)}
	}
	for _, option := range options {
		in = append(in, reflect.ValueOf(option))
	}
	return outcomeOf(method.Call(in), items)
}

func decodeArgument(text json.RawMessage, want reflect.Type) (reflect.Value, error) {
	if want == reflect.TypeOf((*io.Reader)(nil)).Elem() {
		content, err := bytesOrText(text)
		return reflect.ValueOf(bytes.NewReader(content)), err
	}
	pointer := reflect.New(want)
	if want.Kind() == reflect.Int && bytes.HasPrefix(text, []byte(`"`)) {
		text = bytes.Trim(text, `"`)
	}
	decoder := json.NewDecoder(bytes.NewReader(bytesPattern.ReplaceAll(text, []byte(`"bytes:$1"`))))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(pointer.Interface()); err != nil {
		return reflect.Value{}, err
	}
	return pointer.Elem(), contentsFromBytes(emailsOf(pointer.Elem().Interface()))
}

var bytesPattern = regexp.MustCompile(`\{\s*"\$bytes":\s*"([A-Za-z0-9+/=]*)"\s*\}`)

func bytesOrText(text json.RawMessage) ([]byte, error) {
	if match := bytesPattern.FindSubmatch(text); match != nil {
		return base64.StdEncoding.DecodeString(string(match[1]))
	}
	var content string
	err := json.Unmarshal(text, &content)
	return []byte(content), err
}

func emailsOf(body any) []SendEmailBody {
	switch body := body.(type) {
	case *SendEmailBody:
		if body != nil {
			return []SendEmailBody{*body}
		}
	case *SendBatchBody:
		if body != nil {
			return body.Emails
		}
	}
	return nil
}

// contentsFromBytes makes attachments whose content is bytes in the contract, as a program does.
func contentsFromBytes(emails []SendEmailBody) error {
	for _, email := range emails {
		for i := range email.Attachments {
			content := email.Attachments[i].Content
			if content == nil || !strings.HasPrefix(content.text, "bytes:") {
				continue
			}
			decoded, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(content.text, "bytes:"))
			if err != nil {
				return err
			}
			email.Attachments[i].Content = FromBytes(decoded)
		}
	}
	return nil
}

func outcomeOf(out []reflect.Value, items bool) outcome {
	if err, ok := out[len(out)-1].Interface().(error); ok && err != nil {
		return outcome{err: err}
	}
	result := out[0]
	if stream, ok := result.Interface().(*Stream); ok {
		defer stream.Close()
		text, err := io.ReadAll(stream)
		return outcome{text: string(text), err: err}
	}
	if result.MethodByName("Next").IsValid() {
		return outcomeOfPager(result, items)
	}
	if result.Kind() != reflect.Pointer || result.IsNil() {
		return outcome{}
	}
	return outcomeOfAnswer(result)
}

func outcomeOfPager(pager reflect.Value, items bool) outcome {
	if !items {
		return outcomeOf(pager.MethodByName("Page").Call(nil), false)
	}
	count := 0
	for pager.MethodByName("Next").Call(nil)[0].Bool() {
		count++
	}
	err, _ := pager.MethodByName("Err").Call(nil)[0].Interface().(error)
	return outcome{items: count, err: err}
}

func outcomeOfAnswer(result reflect.Value) outcome {
	answer := result.Interface().(interface {
		RawJSON() json.RawMessage
		IdempotencyKey() string
	})
	got := outcome{typed: result.Interface()}
	if err := json.Unmarshal(answer.RawJSON(), &got.value); err != nil {
		return outcome{err: err}
	}
	if object, ok := got.value.(map[string]any); ok && answer.IdempotencyKey() != "" {
		object["idempotencyKey"] = answer.IdempotencyKey()
	}
	return got
}

// step is one call of a case, and what is expected of it.
type step struct {
	Call    string
	Args    []json.RawMessage
	Options map[string]any
	Result  json.RawMessage
	Error   map[string]any
	Text    *string
	Items   *int
	Save    map[string]string
	Until   bool
}

// compare returns what differs from the step, or an empty text.
func (s step) compare(got outcome) string {
	if s.Error != nil {
		return compareError(s.Error, got.err)
	}
	switch {
	case got.err != nil:
		return "it failed: " + got.err.Error()
	case s.Text != nil && !strings.Contains(got.text, *s.Text):
		return fmt.Sprintf("the stream %q lacks %q", shorten(got.text), *s.Text)
	case s.Items != nil && got.items < *s.Items:
		return fmt.Sprintf("it has %d items instead of %d", got.items, *s.Items)
	case len(s.Result) == 0:
		return ""
	}
	var expected any
	if err := json.Unmarshal(s.Result, &expected); err != nil {
		return err.Error()
	}
	return differs(got.value, expected, "the answer")
}

func compareError(expected map[string]any, err error) string {
	var failure *Error
	if !errors.As(err, &failure) {
		return fmt.Sprintf("it should have failed with %v, and not %v", expected, err)
	}
	got := map[string]any{"type": failure.Type, "message": failure.Message}
	optional := map[string]any{
		"status": float64(failure.Status), "param": failure.Param, "requestId": failure.RequestID,
		"retryAfter": failure.RetryAfter.Seconds(), "idempotencyKey": failure.IdempotencyKey,
	}
	for name, value := range optional {
		if got[name] = value; reflect.ValueOf(value).IsZero() {
			got[name] = nil
		}
	}
	if failure.Issues != nil {
		issues, _ := json.Marshal(failure.Issues)
		var list any
		_ = json.Unmarshal(issues, &list)
		got["issues"] = list
	}
	if problem := differs(got, map[string]any(expected), "the error"); problem != "" {
		return problem + ": " + err.Error()
	}
	return ""
}

// differs says what of the expected value is not in the other one. Objects may have more fields.
func differs(value, expected any, path string) string {
	switch want := expected.(type) {
	case map[string]any:
		if kind, ok := want["$any"]; ok {
			if text, isText := value.(string); kind == "string" && (!isText || text == "") {
				return fmt.Sprintf("%s is %v and no string", path, value)
			}
			return ""
		}
		object, ok := value.(map[string]any)
		if !ok {
			return fmt.Sprintf("%s is %v and no object", path, value)
		}
		for name, item := range want {
			if problem := differs(object[name], item, path+"."+name); problem != "" {
				return problem
			}
		}
	case []any:
		list, ok := value.([]any)
		if !ok || len(list) != len(want) {
			return fmt.Sprintf("%s is %v and no list of %d", path, value, len(want))
		}
		for i, item := range want {
			if problem := differs(list[i], item, fmt.Sprintf("%s[%d]", path, i)); problem != "" {
				return problem
			}
		}
	default:
		if !reflect.DeepEqual(value, expected) {
			return fmt.Sprintf("%s is %v and not %v", path, value, expected)
		}
	}
	return ""
}

func shorten(text string) string {
	if len(text) > 300 {
		return text[:300]
	}
	return text
}

func callOptions(options map[string]any) ([]CallOption, time.Duration) {
	var list []CallOption
	if key, ok := options["idempotencyKey"].(string); ok {
		list = append(list, IdempotencyKey(key))
	}
	if ms, ok := options["timeoutMs"].(float64); ok {
		list = append(list, Timeout(time.Duration(ms)*time.Millisecond))
	}
	if ms, ok := options["deadlineMs"].(float64); ok {
		list = append(list, Deadline(time.Duration(ms)*time.Millisecond))
	}
	cancelAfter, _ := options["cancelAfterMs"].(float64)
	return list, time.Duration(cancelAfter) * time.Millisecond
}
