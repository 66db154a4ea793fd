// Command list prints the emails that the daemon has, newest first.
//
//	SERVICE_API_KEY=svc_dev_… SERVICE_BASE_URL=http://127.0.0.1:8025 go run ./examples/list
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/postrider/postrider-go"
)

func main() {
	client, err := postrider.New("")
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	emails := client.Emails.List(context.Background(), &postrider.ListEmailsQuery{Limit: 100})
	for emails.Next() {
		email := emails.Item()
		fmt.Println(email.CreatedAt, email.Status, email.Subject)
	}
	if err := emails.Err(); err != nil {
		log.Fatal(err)
	}
}
