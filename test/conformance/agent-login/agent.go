// An agent with the official Go SDK. See journey.mjs.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

const redirectURI = "http://127.0.0.1:7777/callback"

func main() {
	ctx := context.Background()
	config := &auth.AuthorizationCodeHandlerConfig{RedirectURL: redirectURI, AuthorizationCodeFetcher: openPage}
	if id := os.Getenv("CLIENT_ID"); id != "" {
		config.PreregisteredClient = &oauthex.ClientCredentials{ClientID: id}
	} else if document := os.Getenv("DOCUMENT_URL"); document != "" {
		config.ClientIDMetadataDocumentConfig = &auth.ClientIDMetadataDocumentConfig{URL: document}
	} else {
		config.DynamicClientRegistrationConfig = &auth.DynamicClientRegistrationConfig{
			Metadata: &oauthex.ClientRegistrationMetadata{
				ClientName:              "Go client",
				RedirectURIs:            []string{redirectURI},
				TokenEndpointAuthMethod: "none",
				GrantTypes:              []string{"authorization_code", "refresh_token"},
			},
		}
	}
	handler, err := auth.NewAuthorizationCodeHandler(config)
	check(err)
	options := &mcp.ClientSessionOptions{}
	if os.Args[1] == "legacy" {
		options.ProtocolVersion = "2025-11-25"
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	transport := &mcp.StreamableClientTransport{Endpoint: os.Getenv("ADDRESS"), OAuthHandler: handler}
	session, err := client.Connect(ctx, transport, options)
	check(err)
	tools, err := session.ListTools(ctx, nil)
	check(err)
	report(map[string]any{
		"revision": session.InitializeResult().ProtocolVersion, "tools": len(tools.Tools), "environment": call(ctx, session),
	})
	lifetime, _ := strconv.Atoi(os.Getenv("TOKEN_LIFETIME"))
	time.Sleep(time.Duration(lifetime+1000) * time.Millisecond)
	report(map[string]any{"environment": call(ctx, session)})
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	if _, err = session.CallTool(ctx, &mcp.CallToolParams{Name: "get_connection_info"}); err != nil {
		report(map[string]any{"error": err.Error()})
	} else {
		report(map[string]any{})
	}
}

func openPage(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
	output, err := exec.CommandContext(ctx, os.Getenv("BROWSER"), args.URL).Output()
	if err != nil {
		return nil, err
	}
	location, err := url.Parse(strings.TrimSpace(string(output)))
	if err != nil {
		return nil, err
	}
	query := location.Query()
	if query.Has("error") {
		return nil, fmt.Errorf("the user returned with %s", query.Get("error"))
	}
	return &auth.AuthorizationResult{Code: query.Get("code"), State: query.Get("state"), Iss: query.Get("iss")}, nil
}

func call(ctx context.Context, session *mcp.ClientSession) any {
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "get_connection_info"})
	check(err)
	var content map[string]any
	check(json.Unmarshal([]byte(result.Content[0].(*mcp.TextContent).Text), &content))
	return content["environment"]
}

func report(line map[string]any) {
	text, _ := json.Marshal(line)
	fmt.Println(string(text))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
