"""A webhook receiver with Django: `pip install django`, and receiver.py beside this file. Copy `receive` into your views.

    WEBHOOK_SECRET=… python3 django_receiver.py runserver 4000

During a rotation, WEBHOOK_SECRET has both keys, separated by a space. A key that begins with `whpk_` also needs
`pip install cryptography`.
"""

import json
import os
import sys

from django.conf import settings
from django.core.management import execute_from_command_line
from django.http import HttpResponse
from django.http.request import RawPostDataException, UnreadablePostError
from django.core.exceptions import RequestDataTooBig
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from receiver import verify

SECRETS = os.environ.get("WEBHOOK_SECRET", "").split()
if not SECRETS:
    raise SystemExit("Set WEBHOOK_SECRET to the secret of your API client, or to the key of the endpoint.")


# Django refuses requests of other programs without this: they have no token of a form.
@csrf_exempt
@require_POST
def receive(request):
    try:
        # Not `request.POST`, after which the bytes are gone.
        body = request.body
    except RequestDataTooBig:
        return HttpResponse(status=413)
    except (UnreadablePostError, RawPostDataException):
        return HttpResponse(status=400)
    if not any(verify(body, request.headers, each) for each in SECRETS):
        return HttpResponse(status=401)
    # Add the event to your queue here, unless it contains this ID already, and process it afterward.
    print(request.headers["webhook-id"], json.loads(body)["event"], flush=True)
    return HttpResponse(status=200)


urlpatterns = [path("webhooks", receive)]

if __name__ == "__main__":
    settings.configure(
        ROOT_URLCONF=__name__,
        SECRET_KEY=os.urandom(32).hex(),
        ALLOWED_HOSTS=["localhost", "127.0.0.1"],
        DATA_UPLOAD_MAX_MEMORY_SIZE=1_048_576,
    )
    execute_from_command_line(sys.argv)
