// Gets a token for an API key with golang.org/x/oauth2, and sends a request with it.
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"

	"golang.org/x/oauth2/clientcredentials"
)

func main() {
	baseURL, clientID, key, scope, path := os.Args[1], os.Args[2], os.Args[3], os.Args[4], os.Args[5]
	config := clientcredentials.Config{
		ClientID:     clientID,
		ClientSecret: key,
		TokenURL:     baseURL + "/oauth/token",
		Scopes:       []string{scope},
	}
	context := context.Background()
	token, err := config.Token(context)
	if err != nil {
		log.Fatal(err)
	}
	response, err := config.Client(context).Get(baseURL + path)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	result := map[string]any{
		"token":  map[string]any{"access_token": token.AccessToken, "token_type": token.TokenType},
		"status": response.StatusCode,
	}
	if err := json.NewEncoder(os.Stdout).Encode(result); err != nil {
		log.Fatal(err)
	}
}
