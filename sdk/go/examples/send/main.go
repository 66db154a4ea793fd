// Command send sends one email and waits until it is delivered.
//
//	SERVICE_API_KEY=svc_dev_… SERVICE_BASE_URL=http://127.0.0.1:8025 go run ./examples/send
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/postrider/postrider-go"
)

func main() {
	ctx := context.Background()
	client, err := postrider.New("")
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	sent, err := client.Emails.Send(ctx, &postrider.SendEmailBody{
		From:    "hello@sandbox.localhost",
		To:      []string{"delivered@simulator.localhost"},
		Subject: "Hello",
		HTML:    "<p>It works.</p>",
		Type:    "transactional",
		Attachments: []postrider.SendEmailBodyAttachment{
			{Filename: "hello.txt", Content: postrider.FromBytes([]byte("Hello\n"))},
		},
	})
	var failure *postrider.Error
	if errors.As(err, &failure) {
		log.Fatalf("%s, to be sent again with the key %s", failure, failure.IdempotencyKey)
	}
	fmt.Println(sent.ID, sent.Status)

	for tries := 0; tries < 50; tries++ {
		email, err := client.Emails.Get(ctx, sent.ID)
		if err != nil {
			log.Fatal(err)
		}
		if email.Status != "queued" {
			fmt.Println(email.ID, email.Status)
			return
		}
		time.Sleep(200 * time.Millisecond)
	}
}
