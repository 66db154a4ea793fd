package postrider

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"testing"
	"time"
)

// wireCase is a case of contract/wire.json.
type wireCase struct {
	Name   string
	Client struct {
		Key, BaseURL, PathBefore string
		MaxRetries               *int
		TimeoutMs, DeadlineMs    int
	}
	Before []step
	MaxMs  int
	step
}

// TestContractWire makes the calls of contract/wire.json against the scripted server.
func TestContractWire(t *testing.T) {
	server := os.Getenv("CONTRACT_SERVER")
	if server == "" {
		t.Skip("CONTRACT_SERVER is not set")
	}
	var cases []json.RawMessage
	contractFile(t, "wire.json", &cases)
	for _, text := range cases {
		var one wireCase
		if err := json.Unmarshal(text, &one); err != nil {
			t.Fatal(err)
		}
		text := text
		t.Run(one.Name, func(t *testing.T) {
			script := postCase(t, server, text)
			one.run(t, script.BaseURL)
			var seen struct{ Problems []string }
			getJSON(t, server+"/cases/"+script.ID, &seen)
			for _, problem := range seen.Problems {
				t.Error(problem)
			}
		})
	}
}

func (c wireCase) run(t *testing.T, address string) {
	client, err := c.newClient(address)
	if err != nil || c.Call == "" {
		if problem := compareError(c.Error, err); problem != "" {
			t.Error(problem)
		}
		return
	}
	defer client.Close()
	for _, before := range c.Before {
		if got := invoke(context.Background(), client, before.Call, before.Args, false, nil); got.err != nil {
			t.Fatalf("%s before the case: %v", before.Call, got.err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	options, cancelAfter := callOptions(c.Options)
	if cancelAfter > 0 {
		time.AfterFunc(cancelAfter, cancel)
	}
	start := time.Now()
	got := invoke(ctx, client, c.Call, c.Args, c.Items != nil, options)
	if took := time.Since(start); c.MaxMs > 0 && took > time.Duration(c.MaxMs)*time.Millisecond {
		t.Errorf("it took %v", took)
	}
	if problem := c.compare(got); problem != "" {
		t.Error(problem)
	}
}

func (c wireCase) newClient(address string) (*Client, error) {
	if c.Client.BaseURL != "" {
		address = c.Client.BaseURL
	}
	key := c.Client.Key
	if key == "" {
		key = "svc_dev_contract"
	}
	options := []Option{
		WithBaseURL(address + c.Client.PathBefore),
		WithTimeout(time.Duration(c.Client.TimeoutMs) * time.Millisecond),
		WithDeadline(time.Duration(c.Client.DeadlineMs) * time.Millisecond),
	}
	if c.Client.MaxRetries != nil {
		options = append(options, WithMaxRetries(*c.Client.MaxRetries))
	}
	return New(key, options...)
}

type script struct {
	ID      string
	BaseURL string
}

func postCase(t *testing.T, server string, text []byte) script {
	t.Helper()
	response, err := http.Post(server+"/cases", "application/json", bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var made script
	if err := json.NewDecoder(response.Body).Decode(&made); err != nil {
		t.Fatal(err)
	}
	return made
}

func getJSON(t *testing.T, address string, into any) {
	t.Helper()
	response, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(into); err != nil {
		t.Fatal(err)
	}
}
