"""Verifies a delivery from standard input with the library of Standard Webhooks."""

import json
import sys

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

delivery = json.load(sys.stdin)
try:
    Webhook(delivery["key"]).verify(delivery["body"], delivery["headers"])
    print("accepted")
except WebhookVerificationError:
    print("refused")
