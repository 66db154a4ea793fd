package postrider

import (
	"testing"
	"time"
)

func TestContractSignatures(t *testing.T) {
	var cases []struct {
		Name, Body, Header, Secret string
		Now                        int64
		Tolerance                  *int64
		Valid                      bool
	}
	contractFile(t, "signatures.json", &cases)
	for _, one := range cases {
		one := one
		t.Run(one.Name, func(t *testing.T) {
			tolerance := DefaultTolerance
			if one.Tolerance != nil {
				tolerance = time.Duration(*one.Tolerance) * time.Second
			}
			now := time.Unix(one.Now, 0)
			event, err := verifyAt([]byte(one.Body), one.Header, one.Secret, tolerance, now)
			if one.Valid != (err == nil) {
				t.Fatalf("valid is %v: %v", err == nil, err)
			}
			if !one.Valid {
				if problem := compareError(map[string]any{"type": "invalid_signature"}, err); problem != "" {
					t.Error(problem)
				}
				return
			}
			if string(event.Raw) != one.Body || event.Type == "" {
				t.Errorf("the event is %+v", event)
			}
			if _, err := verifyAt([]byte(one.Body), SignWebhook([]byte(one.Body), one.Secret, now), one.Secret, tolerance, now); err != nil {
				t.Errorf("what SignWebhook signs is refused: %v", err)
			}
		})
	}
}

func TestVerifyWebhookReadsPostsOfInboundRoutes(t *testing.T) {
	body := []byte(`{"from":"ann@x.test","to":["b@y.test"],"subject":"Hi","attachments":[]}`)
	event, err := VerifyWebhook(body, SignWebhook(body, "whsec_a", time.Now()), "whsec_a", DefaultTolerance)
	if err != nil || string(event.Raw) != string(body) {
		t.Fatalf("%+v, %v", event, err)
	}
}

func TestVerifyWebhookRefusesAnEmptySecret(t *testing.T) {
	body := []byte(`{"type":"email.sent"}`)
	if _, err := VerifyWebhook(body, SignWebhook(body, "", time.Now()), "", DefaultTolerance); err == nil {
		t.Fatal("an empty secret signs nothing")
	}
}
