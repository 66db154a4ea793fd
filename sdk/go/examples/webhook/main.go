// Command webhook receives webhooks, and prints each event whose signature is right.
//
//	WEBHOOK_SECRET=whsec_… go run ./examples/webhook
package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"os"

	"github.com/postrider/postrider-go"
)

func main() {
	address := os.Getenv("WEBHOOK_ADDRESS")
	if address == "" {
		address = "127.0.0.1:8090"
	}
	http.HandleFunc("/", receive)
	log.Fatal(http.ListenAndServe(address, nil))
}

func receive(w http.ResponseWriter, r *http.Request) {
	// The signature is that of the bytes as they arrived, so they are read before anything parses them.
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil {
		http.Error(w, "the body is too large", http.StatusRequestEntityTooLarge)
		return
	}
	header := r.Header.Get(postrider.SignatureHeader)
	event, err := postrider.VerifyWebhook(body, header, os.Getenv("WEBHOOK_SECRET"), postrider.DefaultTolerance)
	if err != nil {
		http.Error(w, "the signature is wrong", http.StatusUnauthorized)
		return
	}
	fmt.Println(event.Type, string(event.Data))
	w.WriteHeader(http.StatusNoContent)
}
