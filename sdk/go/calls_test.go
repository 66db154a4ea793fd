package postrider

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestContractCalls makes the calls of contract/calls.json against a daemon in test mode.
func TestContractCalls(t *testing.T) {
	address := os.Getenv("CONTRACT_BASE_URL")
	if address == "" {
		t.Skip("CONTRACT_BASE_URL is not set")
	}
	var cases []struct {
		Name  string
		Steps []json.RawMessage
	}
	contractFile(t, "calls.json", &cases)
	client, err := New(os.Getenv("CONTRACT_KEY"), WithBaseURL(address))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for _, one := range cases {
		one := one
		t.Run(one.Name, func(t *testing.T) {
			variables := newVariables()
			for i, text := range one.Steps {
				if problem := runStep(client, text, variables); problem != "" {
					t.Fatalf("step %d: %s", i+1, problem)
				}
			}
		})
	}
}

type variables map[string]any

func newVariables() variables {
	var random [5]byte
	_, _ = rand.Read(random[:])
	in := func(days int) string {
		return time.Now().UTC().AddDate(0, 0, days).Truncate(time.Second).Format("2006-01-02T15:04:05.000Z")
	}
	return variables{
		"run": hex.EncodeToString(random[:]), "hostname": os.Getenv("CONTRACT_HOSTNAME"),
		"yesterday": in(-1), "tomorrow": in(1), "dayAfter": in(2),
	}
}

func runStep(client *Client, text json.RawMessage, variables variables) string {
	filled, err := variables.fill(text)
	if err != nil {
		return err.Error()
	}
	var step step
	if err := json.Unmarshal(filled, &step); err != nil {
		return err.Error()
	}
	options, _ := callOptions(step.Options)
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		got := invoke(context.Background(), client, step.Call, step.Args, step.Items != nil, options)
		problem := step.compare(got)
		if problem == "" {
			problem = lacking(got)
		}
		if problem == "" {
			variables.save(step.Save, got.value)
			return ""
		}
		if !step.Until || time.Now().After(end) {
			return step.Call + ": " + problem
		}
	}
}

var variable = regexp.MustCompile(`\$\{(\w+)\}`)

// fill puts the variables into a step.
func (v variables) fill(text json.RawMessage) (json.RawMessage, error) {
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return nil, err
	}
	return json.Marshal(v.replace(value))
}

func (v variables) replace(value any) any {
	switch value := value.(type) {
	case string:
		return variable.ReplaceAllStringFunc(value, func(name string) string {
			return fmt.Sprint(v[name[2:len(name)-1]])
		})
	case []any:
		for i := range value {
			value[i] = v.replace(value[i])
		}
		return value
	case map[string]any:
		if name, ok := value["$"].(string); ok {
			return v[name]
		}
		filled := map[string]any{}
		for key, item := range value {
			filled[fmt.Sprint(v.replace(key))] = v.replace(item)
		}
		return filled
	default:
		return value
	}
}

func (v variables) save(names map[string]string, value any) {
	for name, path := range names {
		v[name] = at(value, strings.Split(path, "."))
	}
}

func at(value any, path []string) any {
	for _, part := range path {
		switch inner := value.(type) {
		case map[string]any:
			value = inner[part]
		case []any:
			index, err := strconv.Atoi(part)
			if err != nil || index >= len(inner) {
				return nil
			}
			value = inner[index]
		default:
			return nil
		}
	}
	return value
}

// lacking says which field of an answer of a real daemon is missing in the type, or has another value there.
func lacking(got outcome) string {
	if got.typed == nil {
		return ""
	}
	typed := got.typed
	expected := got.value
	if page := reflect.ValueOf(typed).Elem(); page.FieldByName("HasMore").IsValid() && page.FieldByName("Data").IsValid() {
		typed = page.FieldByName("Data").Interface()
		expected = at(expected, []string{"data"})
	} else if object, ok := expected.(map[string]any); ok {
		delete(object, "idempotencyKey")
	}
	text, err := json.Marshal(typed)
	if err != nil {
		return err.Error()
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return err.Error()
	}
	if problem := differs(withEmpty(value), withEmpty(expected), "the typed answer"); problem != "" {
		return problem
	}
	return ""
}

// withEmpty leaves out what is empty, because optional fields of a type that are empty are left out too.
func withEmpty(value any) any {
	switch value := value.(type) {
	case map[string]any:
		kept := map[string]any{}
		for name, item := range value {
			if item = withEmpty(item); item != nil {
				kept[name] = item
			}
		}
		return kept
	case []any:
		if len(value) == 0 {
			return nil
		}
		for i := range value {
			value[i] = withEmpty(value[i])
		}
		return value
	case string:
		if value == "" {
			return nil
		}
	}
	return value
}
