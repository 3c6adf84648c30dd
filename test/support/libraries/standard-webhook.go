// Verifies a delivery from standard input with the library of Standard Webhooks.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

func main() {
	var delivery struct {
		Key, Body string
		Headers   map[string]string
	}
	if err := json.NewDecoder(os.Stdin).Decode(&delivery); err != nil {
		log.Fatal(err)
	}
	headers := http.Header{}
	for name, value := range delivery.Headers {
		headers.Set(name, value)
	}
	webhook, err := standardwebhooks.NewWebhook(delivery.Key)
	if err != nil {
		log.Fatal(err)
	}
	if webhook.Verify([]byte(delivery.Body), headers) == nil {
		fmt.Println("accepted")
	} else {
		fmt.Println("refused")
	}
}
