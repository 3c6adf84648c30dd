// Verifies webhooks. Copy Verify and the functions that it calls. The rest of this file
// runs the test vectors in this folder.
//
//	go run receiver.go        (Go 1.21 or later)
package main

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Maximum age of a delivery, which also covers clock differences.
const tolerance = 5 * time.Minute

// The service sends one signature, or a few during a rotation. Others are not compared.
const maxSignatures = 10

// Secrets of clients and keys of endpoints are longer.
const minKeyBytes = 24

// Verify tells whether the service sent this, to you, now. The body is what came, before anything has parsed it;
// the headers are those of http.Request; the secret is the key of the endpoint (whsec_… or whpk_…), or the client
// secret, unchanged.
func Verify(body []byte, headers http.Header, secret string, now time.Time) bool {
	// This order ensures that only data from the service is parsed. Service-Signature is always made with the client
	// secret.
	if !VerifyStandardWebhooks(body, headers, secret, now) {
		return false
	}
	isKeyOfEndpoint := strings.HasPrefix(secret, "whsec_") || strings.HasPrefix(secret, "whpk_")
	return isKeyOfEndpoint || VerifyServiceSignature(body, headers, secret)
}

// VerifyServiceSignature verifies Service-Signature, which covers only the event, the session and the length of
// the body.
func VerifyServiceSignature(body []byte, headers http.Header, secret string) bool {
	var payload struct {
		Event     *string `json:"event"`
		SessionID *string `json:"session_id"`
	}
	if json.Unmarshal(body, &payload) != nil || payload.Event == nil {
		return false
	}
	signed := fmt.Sprintf("Content-Length|%d|Content-Type|application/json|Encryption-Type|HMAC-SHA256|event|%s",
		len(body), *payload.Event)
	if payload.SessionID != nil {
		signed += "|session_id|" + *payload.SessionID
	}
	return isEqual(sign([]byte(secret), []byte(signed)), headers.Get("Service-Signature"))
}

var digits = regexp.MustCompile(`^[0-9]{1,15}$`)

// VerifyStandardWebhooks verifies webhook-signature, which covers the ID, the time and every byte of the body.
func VerifyStandardWebhooks(body []byte, headers http.Header, secret string, now time.Time) bool {
	id, timestamp := headers.Get("webhook-id"), headers.Get("webhook-timestamp")
	if id == "" || !digits.MatchString(timestamp) {
		return false
	}
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > tolerance {
		return false
	}
	message := append([]byte(id+"."+timestamp+"."), body...)
	key := []byte(secret)
	if encoded, isOfEndpoint := strings.CutPrefix(secret, "whsec_"); isOfEndpoint {
		key, err = base64.StdEncoding.DecodeString(encoded)
	}
	// Anyone can sign with an empty key, or guess a short one.
	if err != nil || len(key) < minKeyBytes {
		return false
	}
	expected := "v1," + sign(key, message)
	publicKey, hasPublicKey := strings.CutPrefix(secret, "whpk_")
	for count, given := range strings.SplitN(headers.Get("webhook-signature"), " ", maxSignatures+1) {
		if count == maxSignatures {
			return false
		}
		if hasPublicKey && isSignedBy(publicKey, message, given) || !hasPublicKey && isEqual(expected, given) {
			return true
		}
	}
	return false
}

func isSignedBy(publicKey string, message []byte, given string) bool {
	encoded, isVersion := strings.CutPrefix(given, "v1a,")
	key, keyErr := base64.StdEncoding.DecodeString(publicKey)
	signature, err := base64.StdEncoding.DecodeString(encoded)
	isComplete := isVersion && keyErr == nil && err == nil && len(key) == ed25519.PublicKeySize
	return isComplete && ed25519.Verify(key, message, signature)
}

func sign(key, message []byte) string {
	mac := hmac.New(sha256.New, key)
	mac.Write(message)
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// Compare in constant time, so that the duration does not reveal where the texts differ.
func isEqual(expected, given string) bool {
	return len(given) == len(expected) && hmac.Equal([]byte(expected), []byte(given))
}

func main() {
	folder := "."
	if len(os.Args) > 1 {
		folder = os.Args[1]
	}
	var signatures struct {
		Vectors []struct{ Name, Secret, Body, Signature string }
	}
	type deliveries struct {
		Deliveries []struct {
			Name, Secret, Body string
			Accepted           bool
			Now                int64
			Headers            map[string]string
		}
	}
	var whole, ofEndpoints deliveries
	read(filepath.Join(folder, "service-signature.json"), &signatures)
	read(filepath.Join(folder, "deliveries.json"), &whole)
	read(filepath.Join(folder, "endpoint-keys.json"), &ofEndpoints)
	whole.Deliveries = append(whole.Deliveries, ofEndpoints.Deliveries...)
	for _, vector := range signatures.Vectors {
		headers := http.Header{}
		headers.Set("Service-Signature", vector.Signature)
		expectThat(vector.Name, VerifyServiceSignature([]byte(vector.Body), headers, vector.Secret))
	}
	for _, delivery := range whole.Deliveries {
		headers := http.Header{}
		for name, value := range delivery.Headers {
			headers.Set(name, value)
		}
		got := Verify([]byte(delivery.Body), headers, delivery.Secret, time.Unix(delivery.Now, 0))
		expectThat(delivery.Name, got == delivery.Accepted)
	}
	fmt.Printf("ok %d\n", len(signatures.Vectors)+len(whole.Deliveries))
}

func read(path string, into any) {
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func expectThat(name string, isRight bool) {
	if !isRight {
		fmt.Fprintln(os.Stderr, "Failed: "+name)
		os.Exit(1)
	}
}
