// Package postrider is the official client of Postrider, a mail appliance that you host yourself.
//
//	client, err := postrider.New("") // SERVICE_API_KEY and SERVICE_BASE_URL
//	sent, err := client.Emails.Send(ctx, &postrider.SendEmailBody{
//		From: "hello@example.com", To: []string{"ann@example.org"}, Subject: "Hello", Text: "It works.", Type: "transactional",
//	})
//
// Every operation of the API is a method of a service of the client. Arguments are the parameters of the path, the body, the query, and options of the call.
// A nil body or query stands for none. Every error is an *Error.
package postrider
