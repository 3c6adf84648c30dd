# Generated from openapi.json. Run `npm run openapi` after changes.
from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from datetime import datetime
from typing import Any, Literal

import httpx

from . import _operations as operations
from ._pages import AsyncPages, Pages
from ._requests import UNSET, Operation, RequestOptions, Unset, given
from ._transport import AsyncTransport, Transport
from .schemas import (
    AccessTokenResponse, AgentConnectionResponse, ApplicationReceipt, AuditLogEntryResponse,
    AuthorizationServerMetadata, CompletedAuthorizationResponse, ConnectionCodeResponse,
    CreatedSignInLinkResponse, CurrentUserResponse, DeviceCodeResponse, Environment, ErrorCode,
    EventName, EventResponse, EventResultsResponse, EventStatusResponse,
    IdentifyDetectedAccountsResponse, IntrospectionResponse, JobRole, JsonWebKeySet,
    LinkedAccountResponse, ListMerchantStatusesResponse, ListMerchantsResponse, McpTokenResponse,
    MerchantAccountResponse, MerchantNameOrId, MerchantStatus, MerchantStatusResponse,
    OpenedSessionResponse, PublishEventRequest, PublishedEventResponse, QueuedDeliveriesResponse,
    RecoveryResponse, RequestLogEntryResponse, RequestLogOutcome, RequestLogType,
    RevocationResponse, SearchDetectedAccountsResponse, SessionResponse, SessionType,
    SettableWebhookEndpointStatus, SignInLinkResponse, SignInProof, SingleRequestLogEntryResponse,
    TestedWebhookEndpointResponse, TriggeredWebhookResponse, UserErasureResponse,
    WebhookEndpointListResponse, WebhookEndpointResponse, WebhookEndpointSigning,
    WebhookEventListResponse,
)


class MerchantConnectivity(Transport):
    """A client of the service. It has a method for each operation of the API document."""

    def create_mcp_token(
        self, *, external_user_id: str, expires_in: int | None | Unset = UNSET,
        phone_number: str | None | Unset = UNSET, options: RequestOptions | None = None,
    ) -> McpTokenResponse:
        """Create MCP token.

        Creates a short-lived token that connects an agent to the agent connector, an MCP server at `/mcp`, on behalf of one of your users: see `/docs/agent-connector`. Call this operation from your backend at the start of each agent session and pass the token to the agent. The token is returned only once. Limit: 600 requests per minute per client, including authenticated requests that fail.

        Args:
            external_user_id: Your own identifier for the user.
            expires_in: Seconds until the token expires, from 60 seconds to 30 days. The default is 24 hours.
            phone_number: E.164; a valid US or Canadian number. Leave it out for other users. With it, agents send sign-in links by text message; without it, they create sign-in links only if you have a login page, where the user must log in.
        """
        result: McpTokenResponse = self._send(
            operations.CREATE_MCP_TOKEN,
            body=given({"external_user_id": external_user_id}, {"expires_in": expires_in, "phone_number": phone_number}),
            options=options,
        )
        return result

    def request_device_code(
        self, *, client_id: str, scope: str | None = None, options: RequestOptions | None = None,
    ) -> DeviceCodeResponse:
        """Request device code.

        Starts the device authorization flow (RFC 8628). Show the user `user_code` and `verification_uri`, then poll `POST /oauth/token` with `device_code`. The user logs in to the dashboard, enters the code, sees what requests access and approves or declines it. Only users of the organization that owns the client can find the code. Limit: 60 requests per minute per IP address.

        Args:
            client_id: The API client that the token is requested for. It also determines the environment.
            scope: The requested scopes, separated by spaces: `request_logs:read`, `webhook_endpoints:read`, `webhook_endpoints:write`. Unknown scopes are ignored. The default is all scopes.
        """
        result: DeviceCodeResponse = self._send(
            operations.REQUEST_DEVICE_CODE, form=given({"client_id": client_id, "scope": scope}),
            options=options,
        )
        return result

    def exchange_device_code(
        self, *, grant_type: Literal["urn:ietf:params:oauth:grant-type:device_code"],
        client_id: str, device_code: str, options: RequestOptions | None = None,
    ) -> AccessTokenResponse:
        """Exchange device code for access token.

        Exchanges a device code for an access token (RFC 8628). Poll this operation with the `device_code` until the user has decided. On `authorization_pending`, continue. On `slow_down`, continue with the `interval` of the response. On 429 or 503, retry after `Retry-After`; on 500, after the interval. Every other error ends the flow. The token is valid for 15 minutes in the environment of the client that it was issued for. It becomes invalid immediately when it is revoked or its user is removed. Each code can be exchanged once. Limit: 1200 requests per minute per IP address, and one request per `interval` per code.

        Args:
            grant_type: The device code grant.
            client_id: The client that the device code was requested for.
            device_code: The code from the device-code request.
        """
        result: AccessTokenResponse = self._send(
            operations.EXCHANGE_DEVICE_CODE,
            form=given({"grant_type": grant_type, "client_id": client_id, "device_code": device_code}),
            options=options,
        )
        return result

    def list_request_logs(
        self, *, environment: Environment, start: datetime | str | None = None,
        end: datetime | str | None = None, type: RequestLogType | None = None,
        session_id: str | None = None, task_id: int | None = None,
        external_user_id: str | None = None, event: str | None = None,
        status_code: int | None = None, error_code: ErrorCode | None = None,
        request_id: str | None = None, api_key: str | None = None, endpoint_id: str | None = None,
        event_id: str | None = None, outcome: RequestLogOutcome | None = None,
        limit: int | None = None, cursor: str | None = None, options: RequestOptions | None = None,
    ) -> Pages[RequestLogEntryResponse]:
        """List request logs.

        Returns the API requests and the webhook delivery attempts of an environment as one list, newest first. Use it to see what your program sent and how your endpoints responded. Entries must match all given filters; `event` with `type=request` matches nothing. Credentials, bodies of requests and of successful responses, and headers other than `User-Agent` are not stored.

        Args:
            environment: The environment of the log. Must match the environment of the access token.
            start: Only entries created at or after this time; at most 7 days before `end`. The default is 24 hours before `end`.
            end: Only entries created at or before this time. The default is the current time; for the pages that follow, the time of the first page.
            type: `request`: only API requests. `webhook`: only delivery attempts.
            session_id: Only entries of this session.
            task_id: Only entries of this task.
            external_user_id: Your own identifier for the user.
            event: Only delivery attempts of this event.
            status_code: Only entries with this status code, 100 to 599: of the API’s response, or of your endpoint’s response to a webhook. `0`: only delivery attempts without a response.
            error_code: Only API requests whose response has this `error_code`.
            request_id: Only API requests with this `X-Request-Id`.
            api_key: Only API requests that were sent with the API key of this name.
            endpoint_id: Only delivery attempts to this webhook endpoint.
            event_id: Only delivery attempts for the event with this ID, the `webhook-id` header of its deliveries.
            outcome: `success`: only API requests with a status code below 400, and delivery attempts to which your endpoint responded with 200. `failure`: only the others.
            limit: Maximum number of entries in the page. It can differ from page to page.
            cursor: The `next_cursor` of the previous page. Send the other parameters, including `start` and `end`, unchanged; `limit` can differ.
        """
        return self._pages(
            operations.LIST_REQUEST_LOGS,
            query=given({"environment": environment, "start": start, "end": end, "type": type, "session_id": session_id, "task_id": task_id, "external_user_id": external_user_id, "event": event, "status_code": status_code, "error_code": error_code, "request_id": request_id, "api_key": api_key, "endpoint_id": endpoint_id, "event_id": event_id, "outcome": outcome, "limit": limit, "cursor": cursor}),
            options=options,
        )

    def list_audit_logs(
        self, *, start: datetime | str | None = None, end: datetime | str | None = None,
        limit: int | None = None, cursor: str | None = None, options: RequestOptions | None = None,
    ) -> Pages[AuditLogEntryResponse]:
        """Get audit logs.

        Returns what the users of your organization did, and tried to do, in the dashboard. The log covers both environments, newest entries first. Entries are never changed or deleted. Requires production credentials.

        Args:
            start: Only entries created at or after this time.
            end: Only entries created at or before this time.
            limit: Maximum number of entries in the page.
            cursor: The `next_cursor` of the previous page. Send the same `start` and `end` again.
        """
        return self._pages(
            operations.LIST_AUDIT_LOGS,
            query=given({"start": start, "end": end, "limit": limit, "cursor": cursor}),
            options=options,
        )

    def search_detected_accounts(
        self, *, external_user_id: str, names: list[str], options: RequestOptions | None = None,
    ) -> SearchDetectedAccountsResponse:
        """Search detected accounts.

        Returns for each name whether an account of the user was detected at that merchant. Call this operation when you receive the `NEW_DETECTED_ACCOUNTS_AVAILABLE` webhook. Matching ignores case, accents, punctuation and spacing, knows common aliases of merchants, and finds Netflix under "Netflix account", "Netflix, Inc." and "www.netflix.com" too. Results are in the order of `names`, including duplicates. For an unknown user, nothing is detected.

        Args:
            external_user_id: Your own identifier for the user.
            names: Names of 1 to 100 merchants or companies, in any common spelling.
        """
        result: SearchDetectedAccountsResponse = self._send(
            operations.SEARCH_DETECTED_ACCOUNTS,
            body=given({"external_user_id": external_user_id, "names": names}), options=options,
        )
        return result

    def identify_detected_accounts(
        self, *, external_user_id: str, name: list[str], options: RequestOptions | None = None,
    ) -> IdentifyDetectedAccountsResponse:
        """Identify detected accounts (by arrangement).

        Works like "Search detected accounts", with the names in the `name` field. The operation responds with 403 `NO_ACCESS` until access is arranged for your client.

        Args:
            external_user_id: Your own identifier for the user.
            name: Names of 1 to 100 merchants or companies, in any common spelling.
        """
        result: IdentifyDetectedAccountsResponse = self._send(
            operations.IDENTIFY_DETECTED_ACCOUNTS,
            body=given({"external_user_id": external_user_id, "name": name}), options=options,
        )
        return result

    def create_webhook_endpoint(
        self, *, environment: Environment, url: str, description: str | None | Unset = UNSET,
        events: list[EventName] | None | Unset = UNSET,
        status: SettableWebhookEndpointStatus | None | Unset = UNSET,
        signing: WebhookEndpointSigning | None | Unset = UNSET,
        headers: dict[str, str] | None | Unset = UNSET, options: RequestOptions | None = None,
    ) -> WebhookEndpointResponse:
        """Create webhook endpoint.

        Starts to send the events of the environment to this URL. Use it when a receiver is ready to respond. An environment can have at most 10 endpoints with different URLs.

        Args:
            environment: The environment whose events are sent. Must match the environment of the access token.
            url: A public https URL with a host name: no IP address, no credentials; a port is allowed. The URL is stored and shown in the normal form of the URL Standard, without a fragment and without a dot after the host name: `https://EXAMPLE.com.:443#a` becomes `https://example.com/`. The limit counts characters as you send them.
            description: What you use the endpoint for, in at most 255 characters.
            events: Names of the events to send to the endpoint. If absent, all events are sent, including those that are added later.
            status: `paused` creates the endpoint without sending anything to it: events wait until you change the status to `enabled`. The default is `enabled`.
            signing: The key that signs the deliveries, besides `Service-Signature`. With a key of its own, the receiver needs no credential of the API. The default is `client`.
            headers: At most 10 headers of your own, by name, such as the key of a gateway before your receiver. The service sends them with each delivery, stores their values encrypted, and never returns them.
        """
        result: WebhookEndpointResponse = self._send(
            operations.CREATE_WEBHOOK_ENDPOINT,
            body=given({"environment": environment, "url": url}, {"description": description, "events": events, "status": status, "signing": signing, "headers": headers}),
            options=options,
        )
        return result

    def submit_job_application(
        self, *, role: JobRole, full_name: str, email: str, resume_url: str, years_experience: int,
        authorized_to_work: bool, onsite_nyc: bool, exceptional_at: str,
        phone_number: str | None | Unset = UNSET, github_url: str | None | Unset = UNSET,
        linkedin_url: str | None | Unset = UNSET, twitter_url: str | None | Unset = UNSET,
        website: str | None | Unset = UNSET, options: RequestOptions | None = None,
    ) -> ApplicationReceipt:
        """Submit job application.

        Submits a job application. Use it for the form on a careers page. At least one of `github_url` and `linkedin_url` is required. If required fields are missing, the error message lists all of them. Only recruiters can read applications. An application is deleted after 365 days. Limit: 30 requests per hour per IP address.

        Args:
            role: The job to apply for.
            full_name: Full legal name.
            email: Email address.
            resume_url: Public URL of the résumé as a PDF. Share links of cloud drives are accepted.
            years_experience: Years of experience.
            authorized_to_work: Whether you are authorized to work in the United States.
            onsite_nyc: Whether you are willing to work on site in the New York office five days a week.
            phone_number: Phone number with country code (E.164), of any country.
            github_url: GitHub profile. This field or `linkedin_url` is required.
            linkedin_url: LinkedIn profile. This field or `github_url` is required.
            twitter_url: Twitter profile.
            website: Personal website.
            exceptional_at: One thing you are exceptional at, in your own words.
        """
        result: ApplicationReceipt = self._send(
            operations.SUBMIT_JOB_APPLICATION,
            body=given({"role": role, "full_name": full_name, "email": email, "resume_url": resume_url, "years_experience": years_experience, "authorized_to_work": authorized_to_work, "onsite_nyc": onsite_nyc, "exceptional_at": exceptional_at}, {"phone_number": phone_number, "github_url": github_url, "linkedin_url": linkedin_url, "twitter_url": twitter_url, "website": website}),
            options=options,
        )
        return result

    def complete_agent_authorization(
        self, authorization_id: str | int, *, external_user_id: str,
        phone_number: str | None | Unset = UNSET, options: RequestOptions | None = None,
    ) -> CompletedAuthorizationResponse:
        """Complete agent authorization.

        Says which of your users has logged in: to connect an agent, to use a sign-in link, or to open the page of the user. Users come to your login address with an `authorization_id`. Log the user in as always, call this operation from your backend with the credentials of the environment in the query of the address, and redirect the browser to the `redirect_url`, where the user continues. Works once, within 10 minutes. Until the browser has returned, a repeated request gets the same response.

        Args:
            external_user_id: Your own identifier for the user.
            phone_number: E.164; a valid US or Canadian number. Leave it out for other users. With it, the agent sends sign-in links by text message; without it, the agent creates sign-in links only if you have a login page, where the user must log in.
        """
        result: CompletedAuthorizationResponse = self._send(
            operations.COMPLETE_AGENT_AUTHORIZATION, in_path={"authorization_id": authorization_id},
            body=given({"external_user_id": external_user_id}, {"phone_number": phone_number}),
            options=options,
        )
        return result

    def create_connection_code(
        self, *, external_user_id: str, phone_number: str | None | Unset = UNSET,
        options: RequestOptions | None = None,
    ) -> ConnectionCodeResponse:
        """Create connection code.

        Creates a code with which one of your users connects an agent, for apps without a login page on the web. Show the code to the user, who types it on the page that the agent opens. It works once, for 5 minutes. Anyone who has the code can connect an agent to the user, so tell the user not to pass it on.

        Args:
            external_user_id: Your own identifier for the user.
            phone_number: E.164; a valid US or Canadian number. Leave it out for other users. With it, the agent sends sign-in links by text message; without it, the agent creates sign-in links only if you have a login page, where the user must log in.
        """
        result: ConnectionCodeResponse = self._send(
            operations.CREATE_CONNECTION_CODE,
            body=given({"external_user_id": external_user_id}, {"phone_number": phone_number}),
            options=options,
        )
        return result

    def list_agent_connections(
        self, *, environment: Environment | None = None, external_user_id: str | None = None,
        host: str | None = None, limit: int | None = None, cursor: str | None = None,
        options: RequestOptions | None = None,
    ) -> Pages[AgentConnectionResponse]:
        """List agent connections.

        Returns the agents that your users have connected, the newest first. Use it to show users which agents act for them.

        Args:
            environment: That of the client, by default.
            external_user_id: Only connections of this user.
            host: Only connections of agents with this host.
            limit: Maximum number of connections in the page.
            cursor: The `next_cursor` of the previous page, for the same user and host.
        """
        return self._pages(
            operations.LIST_AGENT_CONNECTIONS,
            query=given({"environment": environment, "external_user_id": external_user_id, "host": host, "limit": limit, "cursor": cursor}),
            options=options,
        )

    def disconnect_agent(
        self, id: str | int, *, options: RequestOptions | None = None,
    ) -> AgentConnectionResponse:
        """Disconnect agent.

        Ends the connection of an agent: its tokens stop working immediately, and its sign-in links are cancelled. Publishes `AGENT_DISCONNECTED`.
        """
        result: AgentConnectionResponse = self._send(operations.DISCONNECT_AGENT, in_path={"id": id}, options=options)
        return result

    def create_detection(
        self, *, external_user_id: str, merchants: list[MerchantNameOrId], client_id: str,
        idempotency_key: str | None | Unset = UNSET, options: RequestOptions | None = None,
    ) -> EventResponse:
        """Record detected accounts.

        Records that accounts of a user were detected at these merchants now, and publishes `NEW_DETECTED_ACCOUNTS_AVAILABLE`. Use it in the pipeline that detects accounts. To make retries safe, send an `idempotency_key` or the header `Idempotency-Key`.

        Args:
            external_user_id: Your own identifier for the user.
            merchants: 1 to 100 merchants, by name in any common spelling or by ID.
            client_id: The API client that the user belongs to.
            idempotency_key: Makes retries safe: an event with the same key and content is published once.
        """
        result: EventResponse = self._send(
            operations.CREATE_DETECTION,
            body=given({"external_user_id": external_user_id, "merchants": merchants, "client_id": client_id}, {"idempotency_key": idempotency_key}),
            options=options,
        )
        return result

    def publish_event(
        self, body: PublishEventRequest, *, options: RequestOptions | None = None,
    ) -> EventResponse:
        """Publish an event.

        Publishes an event to all endpoints of a client. Use it to notify clients when something happens in another service of the platform. The response is sent after the commit. To make retries safe, send an `idempotency_key` or the header `Idempotency-Key`: an event with the same key and the same content is published only once.
        """
        result: EventResponse = self._send(operations.PUBLISH_EVENT, body=body, options=options)
        return result

    def publish_events(
        self, *, events: list[PublishEventRequest], options: RequestOptions | None = None,
    ) -> EventResultsResponse:
        """Publish a batch of events.

        Publishes up to 1000 events of any clients, as JSON or as NDJSON with one event on each line. Use it when you have many events: a batch costs much less than the same events one by one. The response has one result for each event, in the same order. Invalid events get an error, and all others are published. The response is sent after the commit.

        Args:
            events: 1 to 1000 events of at most 524288 bytes each.
        """
        result: EventResultsResponse = self._send(operations.PUBLISH_EVENTS, body=given({"events": events}), options=options)
        return result

    def erase_external_user(
        self, external_user_id: str | int, *, options: RequestOptions | None = None,
    ) -> UserErasureResponse:
        """Erase a user.

        Erases everything that is stored about one of your users in the environment of the credentials: see `/docs/erasing-users`. MCP tokens of the user stop working before the response is sent. The rest is erased in the background, which takes at least a minute. Until then, data that you send about the user are erased too. You can repeat the request, also for a user who is not known. Clients and proxies change some paths: for identifiers such as `..`, or with slashes, use "Erase a user, named in the body".
        """
        result: UserErasureResponse = self._send(
            operations.ERASE_EXTERNAL_USER, in_path={"external_user_id": external_user_id},
            options=options,
        )
        return result

    def get_user_erasure(
        self, external_user_id: str | int, *, options: RequestOptions | None = None,
    ) -> UserErasureResponse:
        """Get the erasure of a user.

        Returns the progress of the last erasure of a user, for up to a year after it is finished. Use it to find out when nothing is stored about the user anymore.
        """
        result: UserErasureResponse = self._send(
            operations.GET_USER_ERASURE, in_path={"external_user_id": external_user_id},
            options=options,
        )
        return result

    def erase_user(
        self, *, external_user_id: str, options: RequestOptions | None = None,
    ) -> UserErasureResponse:
        """Erase a user, named in the body.

        Does the same as "Erase a user", for every identifier: in a path, some characters have a meaning of their own.

        Args:
            external_user_id: Your own identifier for the user.
        """
        result: UserErasureResponse = self._send(
            operations.ERASE_USER, body=given({"external_user_id": external_user_id}),
            options=options,
        )
        return result

    def find_user_erasure(
        self, *, external_user_id: str, options: RequestOptions | None = None,
    ) -> UserErasureResponse:
        """Get the erasure of a user, named in the query.

        Does the same as "Get the erasure of a user", for every identifier.

        Args:
            external_user_id: Your own identifier for the user.
        """
        result: UserErasureResponse = self._send(
            operations.FIND_USER_ERASURE, query=given({"external_user_id": external_user_id}),
            options=options,
        )
        return result

    def list_merchant_accounts(
        self, *, external_user_id: str, environment: Environment | None = None,
        limit: int | None = None, cursor: str | None = None, options: RequestOptions | None = None,
    ) -> Pages[MerchantAccountResponse]:
        """List merchant accounts.

        Returns the accounts at merchants that one of your users has signed in to. Use it to find out where the user must sign in again.

        Args:
            environment: That of the client, by default.
            external_user_id: Your own identifier for the user.
            limit: Maximum number of entries in the page.
            cursor: The `next_cursor` of the previous page, for the same user.
        """
        return self._pages(
            operations.LIST_MERCHANT_ACCOUNTS,
            query=given({"environment": environment, "external_user_id": external_user_id, "limit": limit, "cursor": cursor}),
            options=options,
        )

    def unlink_account(
        self, *, external_user_id: str, merchant_id: int, options: RequestOptions | None = None,
    ) -> MerchantAccountResponse:
        """Unlink an account.

        Disconnects an account of one of your users, and ends the sign-in at the merchant. Use it when the user no longer wants the account to be connected. No webhook is sent.

        Args:
            external_user_id: Your own identifier for the user.
            merchant_id: ID of the merchant.
        """
        result: MerchantAccountResponse = self._send(
            operations.UNLINK_ACCOUNT,
            body=given({"external_user_id": external_user_id, "merchant_id": merchant_id}),
            options=options,
        )
        return result

    def list_merchant_statuses(
        self, id: str | int, *, options: RequestOptions | None = None,
    ) -> ListMerchantStatusesResponse:
        """List the statuses of a merchant.

        Returns the last status of each type of session, and how many clients have been notified of it. Use it to follow the progress of a notification. Types whose status was never set are absent.
        """
        result: ListMerchantStatusesResponse = self._send(operations.LIST_MERCHANT_STATUSES, in_path={"id": id}, options=options)
        return result

    def set_merchant_status(
        self, id: str | int, *, type: SessionType, status: MerchantStatus,
        options: RequestOptions | None = None,
    ) -> MerchantStatusResponse:
        """Set the status of a merchant.

        Publishes `MERCHANT_STATUS_UPDATE` to every client that does not hide the merchant, in the background. Use it when sessions of a type stop working at the merchant, or work again. If the status is already set, nothing is published again, so retries are safe. If the status changes while clients are being notified, the notification starts again with the new status.

        Args:
            type: The type of session.
            status: Whether sessions of this type work.
        """
        result: MerchantStatusResponse = self._send(
            operations.SET_MERCHANT_STATUS, in_path={"id": id},
            body=given({"type": type, "status": status}), options=options,
        )
        return result

    def list_merchants(
        self, *, environment: Environment | None = None, options: RequestOptions | None = None,
    ) -> ListMerchantsResponse:
        """List merchants.

        Returns at most 10000 merchants, sorted by name, and whether your organization hides them. Use it to find the IDs of merchants, and to show your users which merchants they can choose.

        Args:
            environment: Each environment has its own hidden merchants. That of the client, by default.
        """
        result: ListMerchantsResponse = self._send(
            operations.LIST_MERCHANTS, query=given({"environment": environment}), options=options,
        )
        return result

    def revoke_token(
        self, *, token: str, client_id: str, token_type_hint: str | None = None,
        options: RequestOptions | None = None,
    ) -> RevocationResponse:
        """Revoke token.

        Revokes an access token or an MCP token of the client immediately (RFC 7009). Use it when an agent or a program is done, or when a token is leaked. The response is the same for a token that does not exist or no longer exists. Limit: 1200 requests per minute per IP address.

        Args:
            token: An access token or MCP token.
            token_type_hint: A hint about the kind of token. Not required.
            client_id: The client that the token was issued to.
        """
        result: RevocationResponse = self._send(
            operations.REVOKE_TOKEN,
            form=given({"token": token, "token_type_hint": token_type_hint, "client_id": client_id}),
            options=options,
        )
        return result

    def introspect_token(
        self, *, token: str, token_type_hint: str | None = None,
        options: RequestOptions | None = None,
    ) -> IntrospectionResponse:
        """Introspect token.

        Returns the state of a token (RFC 7662). An agent connector uses it to find out whom an MCP token acts for, when it expires, and the phone number of the user if there is one. Requires the Basic credentials of the API client. For a token that was issued to another client, the response is only `active: false`. Limit: 12000 requests per minute per client.

        Args:
            token: An access token or MCP token.
            token_type_hint: A hint about the kind of token. Not required.
        """
        result: IntrospectionResponse = self._send(
            operations.INTROSPECT_TOKEN,
            form=given({"token": token, "token_type_hint": token_type_hint}), options=options,
        )
        return result

    def get_authorization_server_metadata(
        self, *, options: RequestOptions | None = None,
    ) -> AuthorizationServerMetadata:
        """Get authorization server metadata.

        Returns the OAuth endpoints and capabilities of this server (RFC 8414). OAuth libraries read them automatically. MCP clients cannot use these endpoints. They get 404 on a host that serves only the agent connector and, on any host, if the request has the header `MCP-Protocol-Version`.
        """
        result: AuthorizationServerMetadata = self._send(operations.GET_AUTHORIZATION_SERVER_METADATA, options=options)
        return result

    def get_json_web_key_set(self, *, options: RequestOptions | None = None) -> JsonWebKeySet:
        """Get JSON Web Key Set.

        Returns the keys that verify access tokens (RFC 7517). A new key is published 10 minutes before it is used for signing. Cache the response no longer than its `Cache-Control` header allows.
        """
        result: JsonWebKeySet = self._send(operations.GET_JSON_WEB_KEY_SET, options=options)
        return result

    def get_current_user(self, *, options: RequestOptions | None = None) -> CurrentUserResponse:
        """Get current user.

        Returns the authenticated user and the scopes of the access token. Use it to check whether a token works.
        """
        result: CurrentUserResponse = self._send(operations.GET_CURRENT_USER, options=options)
        return result

    def get_request_log(
        self, id: str | int, *, options: RequestOptions | None = None,
    ) -> SingleRequestLogEntryResponse:
        """Get a request log entry.

        Returns one entry. For an API request, the entry also says who sent it. For a delivery attempt, it also has the number of the attempt, the durations of its phases, and the beginning of your endpoint’s response if it was not 200. Use it to find out why a delivery failed. Entries of the other environment are not found.
        """
        result: SingleRequestLogEntryResponse = self._send(operations.GET_REQUEST_LOG, in_path={"id": id}, options=options)
        return result

    def link_sandbox_account(
        self, *, external_user_id: str, merchant_id: int, timestamp: int | None | Unset = UNSET,
        session_id: str | None | Unset = UNSET, options: RequestOptions | None = None,
    ) -> LinkedAccountResponse:
        """Link an account (sandbox).

        Simulates a user logging in to the merchant: your development endpoints receive `AUTHENTICATED`, and the account is connected. Use it to test your receiver of `AUTHENTICATED` without a real merchant. Sandbox: requires development credentials; nothing real is affected.

        Args:
            external_user_id: Your own identifier for the user.
            merchant_id: ID of the merchant.
            timestamp: When the event happened, in milliseconds since the Unix epoch; at most 5 minutes in the future. The default is the time of the request. `AUTHENTICATED` and `ACCOUNT_LOGIN_REQUIRED` do not change an account that an event with a later time has changed.
            session_id: A session of this user. The event contains its card and metadata. Without this field, the event names a session that does not exist.
        """
        result: LinkedAccountResponse = self._send(
            operations.LINK_SANDBOX_ACCOUNT,
            body=given({"external_user_id": external_user_id, "merchant_id": merchant_id}, {"timestamp": timestamp, "session_id": session_id}),
            options=options,
        )
        return result

    def disconnect_sandbox_account(
        self, *, external_user_id: str, merchant_id: int, timestamp: int | None | Unset = UNSET,
        session_id: str | None | Unset = UNSET, options: RequestOptions | None = None,
    ) -> PublishedEventResponse:
        """Disconnect an account (sandbox).

        Simulates a merchant requiring the user to log in again: your development endpoints receive `ACCOUNT_LOGIN_REQUIRED`, and the account is disconnected. Link it first. Use this operation to test how your program asks such a user to log in again. Sandbox: requires development credentials; nothing real is affected.

        Args:
            external_user_id: Your own identifier for the user.
            merchant_id: ID of the merchant.
            timestamp: When the event happened, in milliseconds since the Unix epoch; at most 5 minutes in the future. The default is the time of the request. `AUTHENTICATED` and `ACCOUNT_LOGIN_REQUIRED` do not change an account that an event with a later time has changed.
            session_id: A session of this user. It must exist, but the event does not name a session.
        """
        result: PublishedEventResponse = self._send(
            operations.DISCONNECT_SANDBOX_ACCOUNT,
            body=given({"external_user_id": external_user_id, "merchant_id": merchant_id}, {"timestamp": timestamp, "session_id": session_id}),
            options=options,
        )
        return result

    def detect_sandbox_accounts(
        self, *, external_user_id: str, merchants: list[MerchantNameOrId],
        options: RequestOptions | None = None,
    ) -> PublishedEventResponse:
        """Detect accounts (sandbox).

        Records accounts of the user as detected now: "Search detected accounts" finds them, and your development endpoints receive `NEW_DETECTED_ACCOUNTS_AVAILABLE`. Use it to test how your program handles detected accounts. Sandbox: requires development credentials; nothing real is affected.

        Args:
            external_user_id: Your own identifier for the user.
            merchants: 1 to 100 merchants, by name in any common spelling or by ID.
        """
        result: PublishedEventResponse = self._send(
            operations.DETECT_SANDBOX_ACCOUNTS,
            body=given({"external_user_id": external_user_id, "merchants": merchants}),
            options=options,
        )
        return result

    def trigger_sandbox_webhook(
        self, *, event: EventName, session_id: str | None | Unset = UNSET,
        external_user_id: str | None | Unset = UNSET, merchant_id: int | None | Unset = UNSET,
        data: dict[str, Any] | None | Unset = UNSET,
        metadata: dict[str, str] | None | Unset = UNSET, timestamp: int | None | Unset = UNSET,
        options: RequestOptions | None = None,
    ) -> TriggeredWebhookResponse:
        """Trigger a webhook (sandbox).

        Sends the example of an event to your development endpoints, signed and retried like any other event. Use it to test your receiver with any event. Fields that you send replace those of the example; fields that the event does not have are ignored. Sandbox: requires development credentials; nothing real is affected.

        Args:
            event: The event to send.
            session_id: One of your sessions. The event contains its user and metadata.
            external_user_id: Your own identifier for the user.
            merchant_id: ID of the merchant.
            data: Fields of `data`. Fields that you omit have the values of the event’s example.
            metadata: For events of a session. An empty object means none.
            timestamp: When the event happened, in milliseconds since the Unix epoch; at most 5 minutes in the future. The default is the time of the request. `AUTHENTICATED` and `ACCOUNT_LOGIN_REQUIRED` do not change an account that an event with a later time has changed.
        """
        result: TriggeredWebhookResponse = self._send(
            operations.TRIGGER_SANDBOX_WEBHOOK,
            body=given({"event": event}, {"session_id": session_id, "external_user_id": external_user_id, "merchant_id": merchant_id, "data": data, "metadata": metadata, "timestamp": timestamp}),
            options=options,
        )
        return result

    def create_session(
        self, *, type: SessionType, external_user_id: str, card_id: str | None | Unset = UNSET,
        email: str | None | Unset = UNSET, phone_number: str | None | Unset = UNSET,
        metadata: dict[str, str] | None | Unset = UNSET, options: RequestOptions | None = None,
    ) -> SessionResponse:
        """Create session.

        Creates a session for one of your users. It is valid for 30 minutes. Call this operation from your backend when a user is about to link a merchant or switch a card, and pass the ID of the session to the client SDK. Every webhook of the session returns the metadata that you attach.

        Args:
            type: The purpose of the session.
            external_user_id: Your own identifier for the user.
            card_id: Your own identifier for the card. Required for `card_switcher`.
            email: Email address of the user.
            phone_number: Phone number of the user in E.164; a valid US or Canadian number.
            metadata: Your own values, echoed as `data.metadata` in every webhook of the session. The SDK can add to the metadata when it opens the session.
        """
        result: SessionResponse = self._send(
            operations.CREATE_SESSION,
            body=given({"type": type, "external_user_id": external_user_id}, {"card_id": card_id, "email": email, "phone_number": phone_number, "metadata": metadata}),
            options=options,
        )
        return result

    def extend_session(
        self, *, session_id: str, options: RequestOptions | None = None,
    ) -> OpenedSessionResponse:
        """Extend session.

        Adds 30 minutes to the expiry of a session that has not expired. Call this operation while the user is still in the SDK and the session is about to expire. After it has expired, create a new session.

        Args:
            session_id: ID of the session.
        """
        result: OpenedSessionResponse = self._send(
            operations.EXTEND_SESSION, body=given({"session_id": session_id}), options=options,
        )
        return result

    def open_session(
        self, *, session_id: str, metadata: dict[str, str] | None | Unset = UNSET,
        options: RequestOptions | None = None,
    ) -> OpenedSessionResponse:
        """Open session.

        Opens a session from the client SDK. The only credential is the ID of a session that has not expired. The request can add metadata: values given here override those with the same key, and the limits apply to all metadata of the session together. The request appears in your request logs. Limit: 600 requests per minute per IP address.

        Args:
            session_id: ID of the session.
            metadata: Your own values, echoed as `data.metadata` in every webhook of the session. Merged with the metadata of the session: these values override those with the same key, and the limits apply to the result.
        """
        result: OpenedSessionResponse = self._send(
            operations.OPEN_SESSION, body=given({"session_id": session_id}, {"metadata": metadata}),
            options=options,
        )
        return result

    def list_sign_in_links(
        self, *, external_user_id: str, environment: Environment | None = None,
        limit: int | None = None, cursor: str | None = None, options: RequestOptions | None = None,
    ) -> Pages[SignInLinkResponse]:
        """List sign-in links.

        Returns the sign-in links of one of your users from the last week, the newest first. Use it to find out whether the user has signed in.

        Args:
            environment: That of the client, by default.
            external_user_id: Your own identifier for the user.
            limit: Maximum number of entries in the page.
            cursor: The `next_cursor` of the previous page, for the same user.
        """
        return self._pages(
            operations.LIST_SIGN_IN_LINKS,
            query=given({"environment": environment, "external_user_id": external_user_id, "limit": limit, "cursor": cursor}),
            options=options,
        )

    def create_sign_in_link(
        self, *, external_user_id: str, merchant_id: int, phone_number: str | None | Unset = UNSET,
        return_url: str | None | Unset = UNSET, expires_in: int | None | Unset = UNSET,
        proof: SignInProof | None | Unset = UNSET, metadata: dict[str, str] | None | Unset = UNSET,
        options: RequestOptions | None = None,
    ) -> CreatedSignInLinkResponse:
        """Create sign-in link.

        Creates a link with which one of your users signs in to a merchant, which connects the account. Send the `url` to the user, for example by email. Anyone who opens it must log in on your login page, and continues only as the user of the link. With the proof `phone`, the service sends the link by text message instead. A user gets at most 5 links per hour, and you can create 10000 links per day that are not sent to a phone. See `/docs/sign-in-links`.

        Args:
            external_user_id: Your own identifier for the user.
            merchant_id: ID of the merchant.
            phone_number: E.164; a valid US or Canadian number. Required for the proof `phone`, and not allowed otherwise: the link is sent there, and to nobody else.
            return_url: Where the browser goes when the user is done, with `link_id` and `status` in the query: an `https` URL at a host that is listed in the settings for agents or, in development, at a loopback address. Do not trust the `status`: get the link.
            expires_in: Seconds until the link expires. The default is `3600`.
            proof: How the person who opens the link proves to be the user. The default is `partner_login`.
            metadata: Your own values, echoed as `data.metadata` in the webhooks of this sign-in.
        """
        result: CreatedSignInLinkResponse = self._send(
            operations.CREATE_SIGN_IN_LINK,
            body=given({"external_user_id": external_user_id, "merchant_id": merchant_id}, {"phone_number": phone_number, "return_url": return_url, "expires_in": expires_in, "proof": proof, "metadata": metadata}),
            options=options,
        )
        return result

    def get_sign_in_link(
        self, id: str | int, *, options: RequestOptions | None = None,
    ) -> SignInLinkResponse:
        """Get sign-in link.

        Returns one of your sign-in links. Use it when the user has returned to you, or instead of the webhooks.
        """
        result: SignInLinkResponse = self._send(operations.GET_SIGN_IN_LINK, in_path={"id": id}, options=options)
        return result

    def cancel_sign_in_link(
        self, id: str | int, *, options: RequestOptions | None = None,
    ) -> SignInLinkResponse:
        """Cancel sign-in link.

        Cancels a sign-in link that is still pending, so that nobody can sign in with it. A link that has ended stays as it is. Publishes no event.
        """
        result: SignInLinkResponse = self._send(operations.CANCEL_SIGN_IN_LINK, in_path={"id": id}, options=options)
        return result

    def list_webhook_endpoints(
        self, *, environment: Environment, options: RequestOptions | None = None,
    ) -> WebhookEndpointListResponse:
        """List webhook endpoints.

        Returns the webhook endpoints of an environment, at most 10, in the order in which they were created. Use it to see where events are sent, and to find the IDs that other operations require.

        Args:
            environment: The environment whose events are sent. Must match the environment of the access token.
        """
        result: WebhookEndpointListResponse = self._send(
            operations.LIST_WEBHOOK_ENDPOINTS, query=given({"environment": environment}),
            options=options,
        )
        return result

    def get_webhook_endpoint(
        self, id: str | int, *, options: RequestOptions | None = None,
    ) -> WebhookEndpointResponse:
        """Get a webhook endpoint.

        Returns one endpoint. Use it if you stored the ID of the endpoint.
        """
        result: WebhookEndpointResponse = self._send(operations.GET_WEBHOOK_ENDPOINT, in_path={"id": id}, options=options)
        return result

    def update_webhook_endpoint(
        self, id: str | int, *, url: str | None | Unset = UNSET,
        description: str | None | Unset = UNSET, events: list[EventName] | None | Unset = UNSET,
        status: SettableWebhookEndpointStatus | None | Unset = UNSET,
        signing: WebhookEndpointSigning | None | Unset = UNSET,
        headers: dict[str, str | None] | None | Unset = UNSET,
        options: RequestOptions | None = None,
    ) -> WebhookEndpointResponse:
        """Change a webhook endpoint.

        Changes the fields that you send. Absent fields keep their values, and so do `url` and `status` if they are `null`. Use it when your receiver moves, to choose events, to pause and resume deliveries, and to enable an endpoint that the service has disabled. A new URL applies to all attempts from then on, also of events that wait for a retry, and the health starts again.

        Args:
            url: A public https URL with a host name: no IP address, no credentials; a port is allowed. The URL is stored and shown in the normal form of the URL Standard, without a fragment and without a dot after the host name: `https://EXAMPLE.com.:443#a` becomes `https://example.com/`. The limit counts characters as you send them.
            description: What you use the endpoint for, in at most 255 characters. `null` or blank text removes it.
            events: Names of the events to send to the endpoint. `null`: all events, including those that are added later. Applies to events that are published from now on.
            status: `paused`: events wait, and nothing is sent until you change the status to `enabled`. `enabled` also ends the status `disabled`.
            signing: The key that signs the deliveries. A change makes a new key; the previous one also signs for 24 more hours. The present value changes nothing.
            headers: At most 10 headers of your own, by name, such as the key of a gateway before your receiver. The service sends them with each delivery, stores their values encrypted, and never returns them. Headers that you leave out keep their values, unless the host or port of the URL changes: a new receiver gets only headers from the same request. `null` removes a header, or all of them.
        """
        result: WebhookEndpointResponse = self._send(
            operations.UPDATE_WEBHOOK_ENDPOINT, in_path={"id": id},
            body=given({}, {"url": url, "description": description, "events": events, "status": status, "signing": signing, "headers": headers}),
            options=options,
        )
        return result

    def delete_webhook_endpoint(
        self, id: str | int, *, options: RequestOptions | None = None,
    ) -> WebhookEndpointResponse:
        """Delete a webhook endpoint.

        Deletes an endpoint and its pending deliveries. Use it when you no longer operate the receiver.
        """
        result: WebhookEndpointResponse = self._send(operations.DELETE_WEBHOOK_ENDPOINT, in_path={"id": id}, options=options)
        return result

    def rotate_webhook_endpoint_key(
        self, id: str | int, *, signing: WebhookEndpointSigning | None | Unset = UNSET,
        overlap_hours: int | None | Unset = UNSET, options: RequestOptions | None = None,
    ) -> WebhookEndpointResponse:
        """Rotate the key of a webhook endpoint.

        Makes a new key, and lets the previous one sign, too, until the overlap ends. Add the new key to your receiver during the overlap. Use it regularly, after a leak, and to change what signs the deliveries.

        Args:
            signing: The kind of the new key. The default is the kind of the current key. An endpoint with `client` has no key to rotate.
            overlap_hours: Hours for which the previous key signs, too: each delivery has both signatures. 0 ends all earlier keys at once, after a leak. The default is `24`.
        """
        result: WebhookEndpointResponse = self._send(
            operations.ROTATE_WEBHOOK_ENDPOINT_KEY, in_path={"id": id},
            body=given({}, {"signing": signing, "overlap_hours": overlap_hours}), options=options,
        )
        return result

    def stream_webhooks(
        self, *, options: RequestOptions | None = None,
    ) -> AbstractContextManager[httpx.Response]:
        """Stream webhooks (sandbox).

        Sends the events of your development client over this connection, as server-sent events. Use it to receive events on a machine that has no public URL; `mcs listen` forwards them to a local server.
        """
        return self._stream(operations.STREAM_WEBHOOKS, options=options)

    def read_webhook_events(
        self, *, cursor: str | None = None, start: datetime | str | None = None,
        limit: int | None = None, event: list[EventName] | None = None,
        external_user_id: str | None = None, wait: int | None = None,
        options: RequestOptions | None = None,
    ) -> WebhookEventListResponse:
        """Read webhook events.

        Returns the events of your client in the order in which they were published, whether or not an endpoint received them. Use it if you have no public receiver, or to find what a receiver missed.

        Args:
            cursor: The `next_cursor` of the previous page, for the same filters. Default: begin at `start`, or with the oldest event that is kept.
            start: Begin with the events published since this time. A time before the oldest event that is kept counts as that. Has no effect together with `cursor`.
            limit: Maximum number of entries in the page.
            event: Only events with this name. Repeat the parameter for several names.
            external_user_id: Your own identifier for the user.
            wait: Seconds that the request waits for the next event if the page would be empty.
        """
        result: WebhookEventListResponse = self._send(
            operations.READ_WEBHOOK_EVENTS,
            query=given({"cursor": cursor, "start": start, "limit": limit, "event": event, "external_user_id": external_user_id, "wait": wait}),
            options=options,
        )
        return result

    def follow_webhook_events(
        self, *, cursor: str | None = None, start: datetime | str | None = None,
        limit: int | None = None, event: list[EventName] | None = None,
        external_user_id: str | None = None, wait: int | None = None,
        options: RequestOptions | None = None,
    ) -> Iterator[WebhookEventListResponse]:
        """Follow webhook events.

        Returns the events of your client in the order in which they were published, whether or not an endpoint received them. Use it if you have no public receiver, or to find what a receiver missed.

        Reads page by page, and waits for further entries at the end. Remembers nothing: store `next_cursor` after you have processed a page, and begin with it the next time. Raises the error of a request that failed, also after its retries: begin again with your cursor. With `wait=0`, ends at the end of the feed. Pages can be empty.

        Args:
            cursor: The `next_cursor` of the previous page, for the same filters. Default: begin at `start`, or with the oldest event that is kept.
            start: Begin with the events published since this time. A time before the oldest event that is kept counts as that. Has no effect together with `cursor`.
            limit: Maximum number of entries in the page.
            event: Only events with this name. Repeat the parameter for several names.
            external_user_id: Your own identifier for the user.
            wait: Seconds that the request waits for the next event if the page would be empty.
        """
        return self._follow(
            operations.READ_WEBHOOK_EVENTS,
            query=given({"cursor": cursor, "start": start, "limit": limit, "event": event, "external_user_id": external_user_id, "wait": wait}),
            options=options,
        )

    def test_webhook_endpoint(
        self, id: str | int, *, event: EventName | None | Unset = UNSET,
        options: RequestOptions | None = None,
    ) -> TestedWebhookEndpointResponse:
        """Test a webhook endpoint.

        Sends an example event to the endpoint, signed like every event, and returns the result. Use it after you set up an endpoint, and when deliveries fail. The event is sent once, regardless of the response and of the status and events of the endpoint, and appears in the request log. The operation takes up to 10 seconds. If three tests of your organization are running, a further one waits for up to 10 seconds more, and is then refused.

        Args:
            event: The kind of event to send. Its fields are those of the example. The default is `AUTHENTICATED`.
        """
        result: TestedWebhookEndpointResponse = self._send(
            operations.TEST_WEBHOOK_ENDPOINT, in_path={"id": id}, body=given({}, {"event": event}),
            options=options,
        )
        return result

    def redeliver_webhook(
        self, id: str | int, *, event_id: str, options: RequestOptions | None = None,
    ) -> QueuedDeliveriesResponse:
        """Send an event again.

        Sends an event to the current URL of the endpoint once more, with retries, whether or not it was received before. Use it if your receiver lost an event. An event that waits for a retry is sent now, as one more attempt: if that fails, the retries go on. An event that is being sent gets no further attempt: `queued` is 0. Events are retained as long as the request log. The endpoint must be subscribed to the event. If it is paused, the event waits.

        Args:
            event_id: ID of the event: the `webhook-id` header of its deliveries.
        """
        result: QueuedDeliveriesResponse = self._send(
            operations.REDELIVER_WEBHOOK, in_path={"id": id}, body=given({"event_id": event_id}),
            options=options,
        )
        return result

    def get_webhook_recovery(
        self, id: str | int, *, options: RequestOptions | None = None,
    ) -> RecoveryResponse:
        """Get the last recovery of a webhook endpoint.

        Returns how far the last recovery has come. Use it after you requested one, until it is finished.
        """
        result: RecoveryResponse = self._send(operations.GET_WEBHOOK_RECOVERY, in_path={"id": id}, options=options)
        return result

    def recover_webhooks(
        self, id: str | int, *, since: datetime | str, options: RequestOptions | None = None,
    ) -> RecoveryResponse:
        """Recover missed events.

        Sends every event again that the endpoint has not received since a given time: events whose last attempt failed, and events that it missed while it was disabled. Events that it is not subscribed to are left out. Use it after an outage of your receiver. The service does this in the background. An endpoint has one recovery at a time: while one is running, the response describes that one. Events with pending retries are skipped, so you can safely repeat the request.

        Args:
            since: Start of the period. A time before the oldest entry of the request log counts as that.
        """
        result: RecoveryResponse = self._send(
            operations.RECOVER_WEBHOOKS, in_path={"id": id}, body=given({"since": since}),
            options=options,
        )
        return result

    def get_event(
        self, id: str | int, *, options: RequestOptions | None = None,
    ) -> EventStatusResponse:
        """Get the status of an event.

        Returns an event of any client, with its deliveries. Use it to find out whether the endpoints have received an event that you published. Events are kept as long as the request log.
        """
        result: EventStatusResponse = self._send(operations.GET_EVENT, in_path={"id": id}, options=options)
        return result


class AsyncMerchantConnectivity(AsyncTransport):
    """A client of the service for asyncio. It has a method for each operation of the API document."""

    async def create_mcp_token(
        self, *, external_user_id: str, expires_in: int | None | Unset = UNSET,
        phone_number: str | None | Unset = UNSET, options: RequestOptions | None = None,
    ) -> McpTokenResponse:
        """Create MCP token.

        Creates a short-lived token that connects an agent to the agent connector, an MCP server at `/mcp`, on behalf of one of your users: see `/docs/agent-connector`. Call this operation from your backend at the start of each agent session and pass the token to the agent. The token is returned only once. Limit: 600 requests per minute per client, including authenticated requests that fail.

        Args:
            external_user_id: Your own identifier for the user.
            expires_in: Seconds until the token expires, from 60 seconds to 30 days. The default is 24 hours.
            phone_number: E.164; a valid US or Canadian number. Leave it out for other users. With it, agents send sign-in links by text message; without it, they create sign-in links only if you have a login page, where the user must log in.
        """
        result: McpTokenResponse = await self._send(
            operations.CREATE_MCP_TOKEN,
            body=given({"external_user_id": external_user_id}, {"expires_in": expires_in, "phone_number": phone_number}),
            options=options,
        )
        return result

    async def request_device_code(
        self, *, client_id: str, scope: str | None = None, options: RequestOptions | None = None,
    ) -> DeviceCodeResponse:
        """Request device code.

        Starts the device authorization flow (RFC 8628). Show the user `user_code` and `verification_uri`, then poll `POST /oauth/token` with `device_code`. The user logs in to the dashboard, enters the code, sees what requests access and approves or declines it. Only users of the organization that owns the client can find the code. Limit: 60 requests per minute per IP address.

        Args:
            client_id: The API client that the token is requested for. It also determines the environment.
            scope: The requested scopes, separated by spaces: `request_logs:read`, `webhook_endpoints:read`, `webhook_endpoints:write`. Unknown scopes are ignored. The default is all scopes.
        """
        result: DeviceCodeResponse = await self._send(
            operations.REQUEST_DEVICE_CODE, form=given({"client_id": client_id, "scope": scope}),
            options=options,
        )
        return result

    async def exchange_device_code(
        self, *, grant_type: Literal["urn:ietf:params:oauth:grant-type:device_code"],
        client_id: str, device_code: str, options: RequestOptions | None = None,
    ) -> AccessTokenResponse:
        """Exchange device code for access token.

        Exchanges a device code for an access token (RFC 8628). Poll this operation with the `device_code` until the user has decided. On `authorization_pending`, continue. On `slow_down`, continue with the `interval` of the response. On 429 or 503, retry after `Retry-After`; on 500, after the interval. Every other error ends the flow. The token is valid for 15 minutes in the environment of the client that it was issued for. It becomes invalid immediately when it is revoked or its user is removed. Each code can be exchanged once. Limit: 1200 requests per minute per IP address, and one request per `interval` per code.

        Args:
            grant_type: The device code grant.
            client_id: The client that the device code was requested for.
            device_code: The code from the device-code request.
        """
        result: AccessTokenResponse = await self._send(
            operations.EXCHANGE_DEVICE_CODE,
            form=given({"grant_type": grant_type, "client_id": client_id, "device_code": device_code}),
            options=options,
        )
        return result

    def list_request_logs(
        self, *, environment: Environment, start: datetime | str | None = None,
        end: datetime | str | None = None, type: RequestLogType | None = None,
        session_id: str | None = None, task_id: int | None = None,
        external_user_id: str | None = None, event: str | None = None,
        status_code: int | None = None, error_code: ErrorCode | None = None,
        request_id: str | None = None, api_key: str | None = None, endpoint_id: str | None = None,
        event_id: str | None = None, outcome: RequestLogOutcome | None = None,
        limit: int | None = None, cursor: str | None = None, options: RequestOptions | None = None,
    ) -> AsyncPages[RequestLogEntryResponse]:
        """List request logs.

        Returns the API requests and the webhook delivery attempts of an environment as one list, newest first. Use it to see what your program sent and how your endpoints responded. Entries must match all given filters; `event` with `type=request` matches nothing. Credentials, bodies of requests and of successful responses, and headers other than `User-Agent` are not stored.

        Args:
            environment: The environment of the log. Must match the environment of the access token.
            start: Only entries created at or after this time; at most 7 days before `end`. The default is 24 hours before `end`.
            end: Only entries created at or before this time. The default is the current time; for the pages that follow, the time of the first page.
            type: `request`: only API requests. `webhook`: only delivery attempts.
            session_id: Only entries of this session.
            task_id: Only entries of this task.
            external_user_id: Your own identifier for the user.
            event: Only delivery attempts of this event.
            status_code: Only entries with this status code, 100 to 599: of the API’s response, or of your endpoint’s response to a webhook. `0`: only delivery attempts without a response.
            error_code: Only API requests whose response has this `error_code`.
            request_id: Only API requests with this `X-Request-Id`.
            api_key: Only API requests that were sent with the API key of this name.
            endpoint_id: Only delivery attempts to this webhook endpoint.
            event_id: Only delivery attempts for the event with this ID, the `webhook-id` header of its deliveries.
            outcome: `success`: only API requests with a status code below 400, and delivery attempts to which your endpoint responded with 200. `failure`: only the others.
            limit: Maximum number of entries in the page. It can differ from page to page.
            cursor: The `next_cursor` of the previous page. Send the other parameters, including `start` and `end`, unchanged; `limit` can differ.
        """
        return self._pages(
            operations.LIST_REQUEST_LOGS,
            query=given({"environment": environment, "start": start, "end": end, "type": type, "session_id": session_id, "task_id": task_id, "external_user_id": external_user_id, "event": event, "status_code": status_code, "error_code": error_code, "request_id": request_id, "api_key": api_key, "endpoint_id": endpoint_id, "event_id": event_id, "outcome": outcome, "limit": limit, "cursor": cursor}),
            options=options,
        )

    def list_audit_logs(
        self, *, start: datetime | str | None = None, end: datetime | str | None = None,
        limit: int | None = None, cursor: str | None = None, options: RequestOptions | None = None,
    ) -> AsyncPages[AuditLogEntryResponse]:
        """Get audit logs.

        Returns what the users of your organization did, and tried to do, in the dashboard. The log covers both environments, newest entries first. Entries are never changed or deleted. Requires production credentials.

        Args:
            start: Only entries created at or after this time.
            end: Only entries created at or before this time.
            limit: Maximum number of entries in the page.
            cursor: The `next_cursor` of the previous page. Send the same `start` and `end` again.
        """
        return self._pages(
            operations.LIST_AUDIT_LOGS,
            query=given({"start": start, "end": end, "limit": limit, "cursor": cursor}),
            options=options,
        )

    async def search_detected_accounts(
        self, *, external_user_id: str, names: list[str], options: RequestOptions | None = None,
    ) -> SearchDetectedAccountsResponse:
        """Search detected accounts.

        Returns for each name whether an account of the user was detected at that merchant. Call this operation when you receive the `NEW_DETECTED_ACCOUNTS_AVAILABLE` webhook. Matching ignores case, accents, punctuation and spacing, knows common aliases of merchants, and finds Netflix under "Netflix account", "Netflix, Inc." and "www.netflix.com" too. Results are in the order of `names`, including duplicates. For an unknown user, nothing is detected.

        Args:
            external_user_id: Your own identifier for the user.
            names: Names of 1 to 100 merchants or companies, in any common spelling.
        """
        result: SearchDetectedAccountsResponse = await self._send(
            operations.SEARCH_DETECTED_ACCOUNTS,
            body=given({"external_user_id": external_user_id, "names": names}), options=options,
        )
        return result

    async def identify_detected_accounts(
        self, *, external_user_id: str, name: list[str], options: RequestOptions | None = None,
    ) -> IdentifyDetectedAccountsResponse:
        """Identify detected accounts (by arrangement).

        Works like "Search detected accounts", with the names in the `name` field. The operation responds with 403 `NO_ACCESS` until access is arranged for your client.

        Args:
            external_user_id: Your own identifier for the user.
            name: Names of 1 to 100 merchants or companies, in any common spelling.
        """
        result: IdentifyDetectedAccountsResponse = await self._send(
            operations.IDENTIFY_DETECTED_ACCOUNTS,
            body=given({"external_user_id": external_user_id, "name": name}), options=options,
        )
        return result

    async def create_webhook_endpoint(
        self, *, environment: Environment, url: str, description: str | None | Unset = UNSET,
        events: list[EventName] | None | Unset = UNSET,
        status: SettableWebhookEndpointStatus | None | Unset = UNSET,
        signing: WebhookEndpointSigning | None | Unset = UNSET,
        headers: dict[str, str] | None | Unset = UNSET, options: RequestOptions | None = None,
    ) -> WebhookEndpointResponse:
        """Create webhook endpoint.

        Starts to send the events of the environment to this URL. Use it when a receiver is ready to respond. An environment can have at most 10 endpoints with different URLs.

        Args:
            environment: The environment whose events are sent. Must match the environment of the access token.
            url: A public https URL with a host name: no IP address, no credentials; a port is allowed. The URL is stored and shown in the normal form of the URL Standard, without a fragment and without a dot after the host name: `https://EXAMPLE.com.:443#a` becomes `https://example.com/`. The limit counts characters as you send them.
            description: What you use the endpoint for, in at most 255 characters.
            events: Names of the events to send to the endpoint. If absent, all events are sent, including those that are added later.
            status: `paused` creates the endpoint without sending anything to it: events wait until you change the status to `enabled`. The default is `enabled`.
            signing: The key that signs the deliveries, besides `Service-Signature`. With a key of its own, the receiver needs no credential of the API. The default is `client`.
            headers: At most 10 headers of your own, by name, such as the key of a gateway before your receiver. The service sends them with each delivery, stores their values encrypted, and never returns them.
        """
        result: WebhookEndpointResponse = await self._send(
            operations.CREATE_WEBHOOK_ENDPOINT,
            body=given({"environment": environment, "url": url}, {"description": description, "events": events, "status": status, "signing": signing, "headers": headers}),
            options=options,
        )
        return result

    async def submit_job_application(
        self, *, role: JobRole, full_name: str, email: str, resume_url: str, years_experience: int,
        authorized_to_work: bool, onsite_nyc: bool, exceptional_at: str,
        phone_number: str | None | Unset = UNSET, github_url: str | None | Unset = UNSET,
        linkedin_url: str | None | Unset = UNSET, twitter_url: str | None | Unset = UNSET,
        website: str | None | Unset = UNSET, options: RequestOptions | None = None,
    ) -> ApplicationReceipt:
        """Submit job application.

        Submits a job application. Use it for the form on a careers page. At least one of `github_url` and `linkedin_url` is required. If required fields are missing, the error message lists all of them. Only recruiters can read applications. An application is deleted after 365 days. Limit: 30 requests per hour per IP address.

        Args:
            role: The job to apply for.
            full_name: Full legal name.
            email: Email address.
            resume_url: Public URL of the résumé as a PDF. Share links of cloud drives are accepted.
            years_experience: Years of experience.
            authorized_to_work: Whether you are authorized to work in the United States.
            onsite_nyc: Whether you are willing to work on site in the New York office five days a week.
            phone_number: Phone number with country code (E.164), of any country.
            github_url: GitHub profile. This field or `linkedin_url` is required.
            linkedin_url: LinkedIn profile. This field or `github_url` is required.
            twitter_url: Twitter profile.
            website: Personal website.
            exceptional_at: One thing you are exceptional at, in your own words.
        """
        result: ApplicationReceipt = await self._send(
            operations.SUBMIT_JOB_APPLICATION,
            body=given({"role": role, "full_name": full_name, "email": email, "resume_url": resume_url, "years_experience": years_experience, "authorized_to_work": authorized_to_work, "onsite_nyc": onsite_nyc, "exceptional_at": exceptional_at}, {"phone_number": phone_number, "github_url": github_url, "linkedin_url": linkedin_url, "twitter_url": twitter_url, "website": website}),
            options=options,
        )
        return result

    async def complete_agent_authorization(
        self, authorization_id: str | int, *, external_user_id: str,
        phone_number: str | None | Unset = UNSET, options: RequestOptions | None = None,
    ) -> CompletedAuthorizationResponse:
        """Complete agent authorization.

        Says which of your users has logged in: to connect an agent, to use a sign-in link, or to open the page of the user. Users come to your login address with an `authorization_id`. Log the user in as always, call this operation from your backend with the credentials of the environment in the query of the address, and redirect the browser to the `redirect_url`, where the user continues. Works once, within 10 minutes. Until the browser has returned, a repeated request gets the same response.

        Args:
            external_user_id: Your own identifier for the user.
            phone_number: E.164; a valid US or Canadian number. Leave it out for other users. With it, the agent sends sign-in links by text message; without it, the agent creates sign-in links only if you have a login page, where the user must log in.
        """
        result: CompletedAuthorizationResponse = await self._send(
            operations.COMPLETE_AGENT_AUTHORIZATION, in_path={"authorization_id": authorization_id},
            body=given({"external_user_id": external_user_id}, {"phone_number": phone_number}),
            options=options,
        )
        return result

    async def create_connection_code(
        self, *, external_user_id: str, phone_number: str | None | Unset = UNSET,
        options: RequestOptions | None = None,
    ) -> ConnectionCodeResponse:
        """Create connection code.

        Creates a code with which one of your users connects an agent, for apps without a login page on the web. Show the code to the user, who types it on the page that the agent opens. It works once, for 5 minutes. Anyone who has the code can connect an agent to the user, so tell the user not to pass it on.

        Args:
            external_user_id: Your own identifier for the user.
            phone_number: E.164; a valid US or Canadian number. Leave it out for other users. With it, the agent sends sign-in links by text message; without it, the agent creates sign-in links only if you have a login page, where the user must log in.
        """
        result: ConnectionCodeResponse = await self._send(
            operations.CREATE_CONNECTION_CODE,
            body=given({"external_user_id": external_user_id}, {"phone_number": phone_number}),
            options=options,
        )
        return result

    def list_agent_connections(
        self, *, environment: Environment | None = None, external_user_id: str | None = None,
        host: str | None = None, limit: int | None = None, cursor: str | None = None,
        options: RequestOptions | None = None,
    ) -> AsyncPages[AgentConnectionResponse]:
        """List agent connections.

        Returns the agents that your users have connected, the newest first. Use it to show users which agents act for them.

        Args:
            environment: That of the client, by default.
            external_user_id: Only connections of this user.
            host: Only connections of agents with this host.
            limit: Maximum number of connections in the page.
            cursor: The `next_cursor` of the previous page, for the same user and host.
        """
        return self._pages(
            operations.LIST_AGENT_CONNECTIONS,
            query=given({"environment": environment, "external_user_id": external_user_id, "host": host, "limit": limit, "cursor": cursor}),
            options=options,
        )

    async def disconnect_agent(
        self, id: str | int, *, options: RequestOptions | None = None,
    ) -> AgentConnectionResponse:
        """Disconnect agent.

        Ends the connection of an agent: its tokens stop working immediately, and its sign-in links are cancelled. Publishes `AGENT_DISCONNECTED`.
        """
        result: AgentConnectionResponse = await self._send(operations.DISCONNECT_AGENT, in_path={"id": id}, options=options)
        return result

    async def create_detection(
        self, *, external_user_id: str, merchants: list[MerchantNameOrId], client_id: str,
        idempotency_key: str | None | Unset = UNSET, options: RequestOptions | None = None,
    ) -> EventResponse:
        """Record detected accounts.

        Records that accounts of a user were detected at these merchants now, and publishes `NEW_DETECTED_ACCOUNTS_AVAILABLE`. Use it in the pipeline that detects accounts. To make retries safe, send an `idempotency_key` or the header `Idempotency-Key`.

        Args:
            external_user_id: Your own identifier for the user.
            merchants: 1 to 100 merchants, by name in any common spelling or by ID.
            client_id: The API client that the user belongs to.
            idempotency_key: Makes retries safe: an event with the same key and content is published once.
        """
        result: EventResponse = await self._send(
            operations.CREATE_DETECTION,
            body=given({"external_user_id": external_user_id, "merchants": merchants, "client_id": client_id}, {"idempotency_key": idempotency_key}),
            options=options,
        )
        return result

    async def publish_event(
        self, body: PublishEventRequest, *, options: RequestOptions | None = None,
    ) -> EventResponse:
        """Publish an event.

        Publishes an event to all endpoints of a client. Use it to notify clients when something happens in another service of the platform. The response is sent after the commit. To make retries safe, send an `idempotency_key` or the header `Idempotency-Key`: an event with the same key and the same content is published only once.
        """
        result: EventResponse = await self._send(operations.PUBLISH_EVENT, body=body, options=options)
        return result

    async def publish_events(
        self, *, events: list[PublishEventRequest], options: RequestOptions | None = None,
    ) -> EventResultsResponse:
        """Publish a batch of events.

        Publishes up to 1000 events of any clients, as JSON or as NDJSON with one event on each line. Use it when you have many events: a batch costs much less than the same events one by one. The response has one result for each event, in the same order. Invalid events get an error, and all others are published. The response is sent after the commit.

        Args:
            events: 1 to 1000 events of at most 524288 bytes each.
        """
        result: EventResultsResponse = await self._send(operations.PUBLISH_EVENTS, body=given({"events": events}), options=options)
        return result

    async def erase_external_user(
        self, external_user_id: str | int, *, options: RequestOptions | None = None,
    ) -> UserErasureResponse:
        """Erase a user.

        Erases everything that is stored about one of your users in the environment of the credentials: see `/docs/erasing-users`. MCP tokens of the user stop working before the response is sent. The rest is erased in the background, which takes at least a minute. Until then, data that you send about the user are erased too. You can repeat the request, also for a user who is not known. Clients and proxies change some paths: for identifiers such as `..`, or with slashes, use "Erase a user, named in the body".
        """
        result: UserErasureResponse = await self._send(
            operations.ERASE_EXTERNAL_USER, in_path={"external_user_id": external_user_id},
            options=options,
        )
        return result

    async def get_user_erasure(
        self, external_user_id: str | int, *, options: RequestOptions | None = None,
    ) -> UserErasureResponse:
        """Get the erasure of a user.

        Returns the progress of the last erasure of a user, for up to a year after it is finished. Use it to find out when nothing is stored about the user anymore.
        """
        result: UserErasureResponse = await self._send(
            operations.GET_USER_ERASURE, in_path={"external_user_id": external_user_id},
            options=options,
        )
        return result

    async def erase_user(
        self, *, external_user_id: str, options: RequestOptions | None = None,
    ) -> UserErasureResponse:
        """Erase a user, named in the body.

        Does the same as "Erase a user", for every identifier: in a path, some characters have a meaning of their own.

        Args:
            external_user_id: Your own identifier for the user.
        """
        result: UserErasureResponse = await self._send(
            operations.ERASE_USER, body=given({"external_user_id": external_user_id}),
            options=options,
        )
        return result

    async def find_user_erasure(
        self, *, external_user_id: str, options: RequestOptions | None = None,
    ) -> UserErasureResponse:
        """Get the erasure of a user, named in the query.

        Does the same as "Get the erasure of a user", for every identifier.

        Args:
            external_user_id: Your own identifier for the user.
        """
        result: UserErasureResponse = await self._send(
            operations.FIND_USER_ERASURE, query=given({"external_user_id": external_user_id}),
            options=options,
        )
        return result

    def list_merchant_accounts(
        self, *, external_user_id: str, environment: Environment | None = None,
        limit: int | None = None, cursor: str | None = None, options: RequestOptions | None = None,
    ) -> AsyncPages[MerchantAccountResponse]:
        """List merchant accounts.

        Returns the accounts at merchants that one of your users has signed in to. Use it to find out where the user must sign in again.

        Args:
            environment: That of the client, by default.
            external_user_id: Your own identifier for the user.
            limit: Maximum number of entries in the page.
            cursor: The `next_cursor` of the previous page, for the same user.
        """
        return self._pages(
            operations.LIST_MERCHANT_ACCOUNTS,
            query=given({"environment": environment, "external_user_id": external_user_id, "limit": limit, "cursor": cursor}),
            options=options,
        )

    async def unlink_account(
        self, *, external_user_id: str, merchant_id: int, options: RequestOptions | None = None,
    ) -> MerchantAccountResponse:
        """Unlink an account.

        Disconnects an account of one of your users, and ends the sign-in at the merchant. Use it when the user no longer wants the account to be connected. No webhook is sent.

        Args:
            external_user_id: Your own identifier for the user.
            merchant_id: ID of the merchant.
        """
        result: MerchantAccountResponse = await self._send(
            operations.UNLINK_ACCOUNT,
            body=given({"external_user_id": external_user_id, "merchant_id": merchant_id}),
            options=options,
        )
        return result

    async def list_merchant_statuses(
        self, id: str | int, *, options: RequestOptions | None = None,
    ) -> ListMerchantStatusesResponse:
        """List the statuses of a merchant.

        Returns the last status of each type of session, and how many clients have been notified of it. Use it to follow the progress of a notification. Types whose status was never set are absent.
        """
        result: ListMerchantStatusesResponse = await self._send(operations.LIST_MERCHANT_STATUSES, in_path={"id": id}, options=options)
        return result

    async def set_merchant_status(
        self, id: str | int, *, type: SessionType, status: MerchantStatus,
        options: RequestOptions | None = None,
    ) -> MerchantStatusResponse:
        """Set the status of a merchant.

        Publishes `MERCHANT_STATUS_UPDATE` to every client that does not hide the merchant, in the background. Use it when sessions of a type stop working at the merchant, or work again. If the status is already set, nothing is published again, so retries are safe. If the status changes while clients are being notified, the notification starts again with the new status.

        Args:
            type: The type of session.
            status: Whether sessions of this type work.
        """
        result: MerchantStatusResponse = await self._send(
            operations.SET_MERCHANT_STATUS, in_path={"id": id},
            body=given({"type": type, "status": status}), options=options,
        )
        return result

    async def list_merchants(
        self, *, environment: Environment | None = None, options: RequestOptions | None = None,
    ) -> ListMerchantsResponse:
        """List merchants.

        Returns at most 10000 merchants, sorted by name, and whether your organization hides them. Use it to find the IDs of merchants, and to show your users which merchants they can choose.

        Args:
            environment: Each environment has its own hidden merchants. That of the client, by default.
        """
        result: ListMerchantsResponse = await self._send(
            operations.LIST_MERCHANTS, query=given({"environment": environment}), options=options,
        )
        return result

    async def revoke_token(
        self, *, token: str, client_id: str, token_type_hint: str | None = None,
        options: RequestOptions | None = None,
    ) -> RevocationResponse:
        """Revoke token.

        Revokes an access token or an MCP token of the client immediately (RFC 7009). Use it when an agent or a program is done, or when a token is leaked. The response is the same for a token that does not exist or no longer exists. Limit: 1200 requests per minute per IP address.

        Args:
            token: An access token or MCP token.
            token_type_hint: A hint about the kind of token. Not required.
            client_id: The client that the token was issued to.
        """
        result: RevocationResponse = await self._send(
            operations.REVOKE_TOKEN,
            form=given({"token": token, "token_type_hint": token_type_hint, "client_id": client_id}),
            options=options,
        )
        return result

    async def introspect_token(
        self, *, token: str, token_type_hint: str | None = None,
        options: RequestOptions | None = None,
    ) -> IntrospectionResponse:
        """Introspect token.

        Returns the state of a token (RFC 7662). An agent connector uses it to find out whom an MCP token acts for, when it expires, and the phone number of the user if there is one. Requires the Basic credentials of the API client. For a token that was issued to another client, the response is only `active: false`. Limit: 12000 requests per minute per client.

        Args:
            token: An access token or MCP token.
            token_type_hint: A hint about the kind of token. Not required.
        """
        result: IntrospectionResponse = await self._send(
            operations.INTROSPECT_TOKEN,
            form=given({"token": token, "token_type_hint": token_type_hint}), options=options,
        )
        return result

    async def get_authorization_server_metadata(
        self, *, options: RequestOptions | None = None,
    ) -> AuthorizationServerMetadata:
        """Get authorization server metadata.

        Returns the OAuth endpoints and capabilities of this server (RFC 8414). OAuth libraries read them automatically. MCP clients cannot use these endpoints. They get 404 on a host that serves only the agent connector and, on any host, if the request has the header `MCP-Protocol-Version`.
        """
        result: AuthorizationServerMetadata = await self._send(operations.GET_AUTHORIZATION_SERVER_METADATA, options=options)
        return result

    async def get_json_web_key_set(self, *, options: RequestOptions | None = None) -> JsonWebKeySet:
        """Get JSON Web Key Set.

        Returns the keys that verify access tokens (RFC 7517). A new key is published 10 minutes before it is used for signing. Cache the response no longer than its `Cache-Control` header allows.
        """
        result: JsonWebKeySet = await self._send(operations.GET_JSON_WEB_KEY_SET, options=options)
        return result

    async def get_current_user(
        self, *, options: RequestOptions | None = None,
    ) -> CurrentUserResponse:
        """Get current user.

        Returns the authenticated user and the scopes of the access token. Use it to check whether a token works.
        """
        result: CurrentUserResponse = await self._send(operations.GET_CURRENT_USER, options=options)
        return result

    async def get_request_log(
        self, id: str | int, *, options: RequestOptions | None = None,
    ) -> SingleRequestLogEntryResponse:
        """Get a request log entry.

        Returns one entry. For an API request, the entry also says who sent it. For a delivery attempt, it also has the number of the attempt, the durations of its phases, and the beginning of your endpoint’s response if it was not 200. Use it to find out why a delivery failed. Entries of the other environment are not found.
        """
        result: SingleRequestLogEntryResponse = await self._send(operations.GET_REQUEST_LOG, in_path={"id": id}, options=options)
        return result

    async def link_sandbox_account(
        self, *, external_user_id: str, merchant_id: int, timestamp: int | None | Unset = UNSET,
        session_id: str | None | Unset = UNSET, options: RequestOptions | None = None,
    ) -> LinkedAccountResponse:
        """Link an account (sandbox).

        Simulates a user logging in to the merchant: your development endpoints receive `AUTHENTICATED`, and the account is connected. Use it to test your receiver of `AUTHENTICATED` without a real merchant. Sandbox: requires development credentials; nothing real is affected.

        Args:
            external_user_id: Your own identifier for the user.
            merchant_id: ID of the merchant.
            timestamp: When the event happened, in milliseconds since the Unix epoch; at most 5 minutes in the future. The default is the time of the request. `AUTHENTICATED` and `ACCOUNT_LOGIN_REQUIRED` do not change an account that an event with a later time has changed.
            session_id: A session of this user. The event contains its card and metadata. Without this field, the event names a session that does not exist.
        """
        result: LinkedAccountResponse = await self._send(
            operations.LINK_SANDBOX_ACCOUNT,
            body=given({"external_user_id": external_user_id, "merchant_id": merchant_id}, {"timestamp": timestamp, "session_id": session_id}),
            options=options,
        )
        return result

    async def disconnect_sandbox_account(
        self, *, external_user_id: str, merchant_id: int, timestamp: int | None | Unset = UNSET,
        session_id: str | None | Unset = UNSET, options: RequestOptions | None = None,
    ) -> PublishedEventResponse:
        """Disconnect an account (sandbox).

        Simulates a merchant requiring the user to log in again: your development endpoints receive `ACCOUNT_LOGIN_REQUIRED`, and the account is disconnected. Link it first. Use this operation to test how your program asks such a user to log in again. Sandbox: requires development credentials; nothing real is affected.

        Args:
            external_user_id: Your own identifier for the user.
            merchant_id: ID of the merchant.
            timestamp: When the event happened, in milliseconds since the Unix epoch; at most 5 minutes in the future. The default is the time of the request. `AUTHENTICATED` and `ACCOUNT_LOGIN_REQUIRED` do not change an account that an event with a later time has changed.
            session_id: A session of this user. It must exist, but the event does not name a session.
        """
        result: PublishedEventResponse = await self._send(
            operations.DISCONNECT_SANDBOX_ACCOUNT,
            body=given({"external_user_id": external_user_id, "merchant_id": merchant_id}, {"timestamp": timestamp, "session_id": session_id}),
            options=options,
        )
        return result

    async def detect_sandbox_accounts(
        self, *, external_user_id: str, merchants: list[MerchantNameOrId],
        options: RequestOptions | None = None,
    ) -> PublishedEventResponse:
        """Detect accounts (sandbox).

        Records accounts of the user as detected now: "Search detected accounts" finds them, and your development endpoints receive `NEW_DETECTED_ACCOUNTS_AVAILABLE`. Use it to test how your program handles detected accounts. Sandbox: requires development credentials; nothing real is affected.

        Args:
            external_user_id: Your own identifier for the user.
            merchants: 1 to 100 merchants, by name in any common spelling or by ID.
        """
        result: PublishedEventResponse = await self._send(
            operations.DETECT_SANDBOX_ACCOUNTS,
            body=given({"external_user_id": external_user_id, "merchants": merchants}),
            options=options,
        )
        return result

    async def trigger_sandbox_webhook(
        self, *, event: EventName, session_id: str | None | Unset = UNSET,
        external_user_id: str | None | Unset = UNSET, merchant_id: int | None | Unset = UNSET,
        data: dict[str, Any] | None | Unset = UNSET,
        metadata: dict[str, str] | None | Unset = UNSET, timestamp: int | None | Unset = UNSET,
        options: RequestOptions | None = None,
    ) -> TriggeredWebhookResponse:
        """Trigger a webhook (sandbox).

        Sends the example of an event to your development endpoints, signed and retried like any other event. Use it to test your receiver with any event. Fields that you send replace those of the example; fields that the event does not have are ignored. Sandbox: requires development credentials; nothing real is affected.

        Args:
            event: The event to send.
            session_id: One of your sessions. The event contains its user and metadata.
            external_user_id: Your own identifier for the user.
            merchant_id: ID of the merchant.
            data: Fields of `data`. Fields that you omit have the values of the event’s example.
            metadata: For events of a session. An empty object means none.
            timestamp: When the event happened, in milliseconds since the Unix epoch; at most 5 minutes in the future. The default is the time of the request. `AUTHENTICATED` and `ACCOUNT_LOGIN_REQUIRED` do not change an account that an event with a later time has changed.
        """
        result: TriggeredWebhookResponse = await self._send(
            operations.TRIGGER_SANDBOX_WEBHOOK,
            body=given({"event": event}, {"session_id": session_id, "external_user_id": external_user_id, "merchant_id": merchant_id, "data": data, "metadata": metadata, "timestamp": timestamp}),
            options=options,
        )
        return result

    async def create_session(
        self, *, type: SessionType, external_user_id: str, card_id: str | None | Unset = UNSET,
        email: str | None | Unset = UNSET, phone_number: str | None | Unset = UNSET,
        metadata: dict[str, str] | None | Unset = UNSET, options: RequestOptions | None = None,
    ) -> SessionResponse:
        """Create session.

        Creates a session for one of your users. It is valid for 30 minutes. Call this operation from your backend when a user is about to link a merchant or switch a card, and pass the ID of the session to the client SDK. Every webhook of the session returns the metadata that you attach.

        Args:
            type: The purpose of the session.
            external_user_id: Your own identifier for the user.
            card_id: Your own identifier for the card. Required for `card_switcher`.
            email: Email address of the user.
            phone_number: Phone number of the user in E.164; a valid US or Canadian number.
            metadata: Your own values, echoed as `data.metadata` in every webhook of the session. The SDK can add to the metadata when it opens the session.
        """
        result: SessionResponse = await self._send(
            operations.CREATE_SESSION,
            body=given({"type": type, "external_user_id": external_user_id}, {"card_id": card_id, "email": email, "phone_number": phone_number, "metadata": metadata}),
            options=options,
        )
        return result

    async def extend_session(
        self, *, session_id: str, options: RequestOptions | None = None,
    ) -> OpenedSessionResponse:
        """Extend session.

        Adds 30 minutes to the expiry of a session that has not expired. Call this operation while the user is still in the SDK and the session is about to expire. After it has expired, create a new session.

        Args:
            session_id: ID of the session.
        """
        result: OpenedSessionResponse = await self._send(
            operations.EXTEND_SESSION, body=given({"session_id": session_id}), options=options,
        )
        return result

    async def open_session(
        self, *, session_id: str, metadata: dict[str, str] | None | Unset = UNSET,
        options: RequestOptions | None = None,
    ) -> OpenedSessionResponse:
        """Open session.

        Opens a session from the client SDK. The only credential is the ID of a session that has not expired. The request can add metadata: values given here override those with the same key, and the limits apply to all metadata of the session together. The request appears in your request logs. Limit: 600 requests per minute per IP address.

        Args:
            session_id: ID of the session.
            metadata: Your own values, echoed as `data.metadata` in every webhook of the session. Merged with the metadata of the session: these values override those with the same key, and the limits apply to the result.
        """
        result: OpenedSessionResponse = await self._send(
            operations.OPEN_SESSION, body=given({"session_id": session_id}, {"metadata": metadata}),
            options=options,
        )
        return result

    def list_sign_in_links(
        self, *, external_user_id: str, environment: Environment | None = None,
        limit: int | None = None, cursor: str | None = None, options: RequestOptions | None = None,
    ) -> AsyncPages[SignInLinkResponse]:
        """List sign-in links.

        Returns the sign-in links of one of your users from the last week, the newest first. Use it to find out whether the user has signed in.

        Args:
            environment: That of the client, by default.
            external_user_id: Your own identifier for the user.
            limit: Maximum number of entries in the page.
            cursor: The `next_cursor` of the previous page, for the same user.
        """
        return self._pages(
            operations.LIST_SIGN_IN_LINKS,
            query=given({"environment": environment, "external_user_id": external_user_id, "limit": limit, "cursor": cursor}),
            options=options,
        )

    async def create_sign_in_link(
        self, *, external_user_id: str, merchant_id: int, phone_number: str | None | Unset = UNSET,
        return_url: str | None | Unset = UNSET, expires_in: int | None | Unset = UNSET,
        proof: SignInProof | None | Unset = UNSET, metadata: dict[str, str] | None | Unset = UNSET,
        options: RequestOptions | None = None,
    ) -> CreatedSignInLinkResponse:
        """Create sign-in link.

        Creates a link with which one of your users signs in to a merchant, which connects the account. Send the `url` to the user, for example by email. Anyone who opens it must log in on your login page, and continues only as the user of the link. With the proof `phone`, the service sends the link by text message instead. A user gets at most 5 links per hour, and you can create 10000 links per day that are not sent to a phone. See `/docs/sign-in-links`.

        Args:
            external_user_id: Your own identifier for the user.
            merchant_id: ID of the merchant.
            phone_number: E.164; a valid US or Canadian number. Required for the proof `phone`, and not allowed otherwise: the link is sent there, and to nobody else.
            return_url: Where the browser goes when the user is done, with `link_id` and `status` in the query: an `https` URL at a host that is listed in the settings for agents or, in development, at a loopback address. Do not trust the `status`: get the link.
            expires_in: Seconds until the link expires. The default is `3600`.
            proof: How the person who opens the link proves to be the user. The default is `partner_login`.
            metadata: Your own values, echoed as `data.metadata` in the webhooks of this sign-in.
        """
        result: CreatedSignInLinkResponse = await self._send(
            operations.CREATE_SIGN_IN_LINK,
            body=given({"external_user_id": external_user_id, "merchant_id": merchant_id}, {"phone_number": phone_number, "return_url": return_url, "expires_in": expires_in, "proof": proof, "metadata": metadata}),
            options=options,
        )
        return result

    async def get_sign_in_link(
        self, id: str | int, *, options: RequestOptions | None = None,
    ) -> SignInLinkResponse:
        """Get sign-in link.

        Returns one of your sign-in links. Use it when the user has returned to you, or instead of the webhooks.
        """
        result: SignInLinkResponse = await self._send(operations.GET_SIGN_IN_LINK, in_path={"id": id}, options=options)
        return result

    async def cancel_sign_in_link(
        self, id: str | int, *, options: RequestOptions | None = None,
    ) -> SignInLinkResponse:
        """Cancel sign-in link.

        Cancels a sign-in link that is still pending, so that nobody can sign in with it. A link that has ended stays as it is. Publishes no event.
        """
        result: SignInLinkResponse = await self._send(operations.CANCEL_SIGN_IN_LINK, in_path={"id": id}, options=options)
        return result

    async def list_webhook_endpoints(
        self, *, environment: Environment, options: RequestOptions | None = None,
    ) -> WebhookEndpointListResponse:
        """List webhook endpoints.

        Returns the webhook endpoints of an environment, at most 10, in the order in which they were created. Use it to see where events are sent, and to find the IDs that other operations require.

        Args:
            environment: The environment whose events are sent. Must match the environment of the access token.
        """
        result: WebhookEndpointListResponse = await self._send(
            operations.LIST_WEBHOOK_ENDPOINTS, query=given({"environment": environment}),
            options=options,
        )
        return result

    async def get_webhook_endpoint(
        self, id: str | int, *, options: RequestOptions | None = None,
    ) -> WebhookEndpointResponse:
        """Get a webhook endpoint.

        Returns one endpoint. Use it if you stored the ID of the endpoint.
        """
        result: WebhookEndpointResponse = await self._send(operations.GET_WEBHOOK_ENDPOINT, in_path={"id": id}, options=options)
        return result

    async def update_webhook_endpoint(
        self, id: str | int, *, url: str | None | Unset = UNSET,
        description: str | None | Unset = UNSET, events: list[EventName] | None | Unset = UNSET,
        status: SettableWebhookEndpointStatus | None | Unset = UNSET,
        signing: WebhookEndpointSigning | None | Unset = UNSET,
        headers: dict[str, str | None] | None | Unset = UNSET,
        options: RequestOptions | None = None,
    ) -> WebhookEndpointResponse:
        """Change a webhook endpoint.

        Changes the fields that you send. Absent fields keep their values, and so do `url` and `status` if they are `null`. Use it when your receiver moves, to choose events, to pause and resume deliveries, and to enable an endpoint that the service has disabled. A new URL applies to all attempts from then on, also of events that wait for a retry, and the health starts again.

        Args:
            url: A public https URL with a host name: no IP address, no credentials; a port is allowed. The URL is stored and shown in the normal form of the URL Standard, without a fragment and without a dot after the host name: `https://EXAMPLE.com.:443#a` becomes `https://example.com/`. The limit counts characters as you send them.
            description: What you use the endpoint for, in at most 255 characters. `null` or blank text removes it.
            events: Names of the events to send to the endpoint. `null`: all events, including those that are added later. Applies to events that are published from now on.
            status: `paused`: events wait, and nothing is sent until you change the status to `enabled`. `enabled` also ends the status `disabled`.
            signing: The key that signs the deliveries. A change makes a new key; the previous one also signs for 24 more hours. The present value changes nothing.
            headers: At most 10 headers of your own, by name, such as the key of a gateway before your receiver. The service sends them with each delivery, stores their values encrypted, and never returns them. Headers that you leave out keep their values, unless the host or port of the URL changes: a new receiver gets only headers from the same request. `null` removes a header, or all of them.
        """
        result: WebhookEndpointResponse = await self._send(
            operations.UPDATE_WEBHOOK_ENDPOINT, in_path={"id": id},
            body=given({}, {"url": url, "description": description, "events": events, "status": status, "signing": signing, "headers": headers}),
            options=options,
        )
        return result

    async def delete_webhook_endpoint(
        self, id: str | int, *, options: RequestOptions | None = None,
    ) -> WebhookEndpointResponse:
        """Delete a webhook endpoint.

        Deletes an endpoint and its pending deliveries. Use it when you no longer operate the receiver.
        """
        result: WebhookEndpointResponse = await self._send(operations.DELETE_WEBHOOK_ENDPOINT, in_path={"id": id}, options=options)
        return result

    async def rotate_webhook_endpoint_key(
        self, id: str | int, *, signing: WebhookEndpointSigning | None | Unset = UNSET,
        overlap_hours: int | None | Unset = UNSET, options: RequestOptions | None = None,
    ) -> WebhookEndpointResponse:
        """Rotate the key of a webhook endpoint.

        Makes a new key, and lets the previous one sign, too, until the overlap ends. Add the new key to your receiver during the overlap. Use it regularly, after a leak, and to change what signs the deliveries.

        Args:
            signing: The kind of the new key. The default is the kind of the current key. An endpoint with `client` has no key to rotate.
            overlap_hours: Hours for which the previous key signs, too: each delivery has both signatures. 0 ends all earlier keys at once, after a leak. The default is `24`.
        """
        result: WebhookEndpointResponse = await self._send(
            operations.ROTATE_WEBHOOK_ENDPOINT_KEY, in_path={"id": id},
            body=given({}, {"signing": signing, "overlap_hours": overlap_hours}), options=options,
        )
        return result

    def stream_webhooks(
        self, *, options: RequestOptions | None = None,
    ) -> AbstractAsyncContextManager[httpx.Response]:
        """Stream webhooks (sandbox).

        Sends the events of your development client over this connection, as server-sent events. Use it to receive events on a machine that has no public URL; `mcs listen` forwards them to a local server.
        """
        return self._stream(operations.STREAM_WEBHOOKS, options=options)

    async def read_webhook_events(
        self, *, cursor: str | None = None, start: datetime | str | None = None,
        limit: int | None = None, event: list[EventName] | None = None,
        external_user_id: str | None = None, wait: int | None = None,
        options: RequestOptions | None = None,
    ) -> WebhookEventListResponse:
        """Read webhook events.

        Returns the events of your client in the order in which they were published, whether or not an endpoint received them. Use it if you have no public receiver, or to find what a receiver missed.

        Args:
            cursor: The `next_cursor` of the previous page, for the same filters. Default: begin at `start`, or with the oldest event that is kept.
            start: Begin with the events published since this time. A time before the oldest event that is kept counts as that. Has no effect together with `cursor`.
            limit: Maximum number of entries in the page.
            event: Only events with this name. Repeat the parameter for several names.
            external_user_id: Your own identifier for the user.
            wait: Seconds that the request waits for the next event if the page would be empty.
        """
        result: WebhookEventListResponse = await self._send(
            operations.READ_WEBHOOK_EVENTS,
            query=given({"cursor": cursor, "start": start, "limit": limit, "event": event, "external_user_id": external_user_id, "wait": wait}),
            options=options,
        )
        return result

    def follow_webhook_events(
        self, *, cursor: str | None = None, start: datetime | str | None = None,
        limit: int | None = None, event: list[EventName] | None = None,
        external_user_id: str | None = None, wait: int | None = None,
        options: RequestOptions | None = None,
    ) -> AsyncIterator[WebhookEventListResponse]:
        """Follow webhook events.

        Returns the events of your client in the order in which they were published, whether or not an endpoint received them. Use it if you have no public receiver, or to find what a receiver missed.

        Reads page by page, and waits for further entries at the end. Remembers nothing: store `next_cursor` after you have processed a page, and begin with it the next time. Raises the error of a request that failed, also after its retries: begin again with your cursor. With `wait=0`, ends at the end of the feed. Pages can be empty.

        Args:
            cursor: The `next_cursor` of the previous page, for the same filters. Default: begin at `start`, or with the oldest event that is kept.
            start: Begin with the events published since this time. A time before the oldest event that is kept counts as that. Has no effect together with `cursor`.
            limit: Maximum number of entries in the page.
            event: Only events with this name. Repeat the parameter for several names.
            external_user_id: Your own identifier for the user.
            wait: Seconds that the request waits for the next event if the page would be empty.
        """
        return self._follow(
            operations.READ_WEBHOOK_EVENTS,
            query=given({"cursor": cursor, "start": start, "limit": limit, "event": event, "external_user_id": external_user_id, "wait": wait}),
            options=options,
        )

    async def test_webhook_endpoint(
        self, id: str | int, *, event: EventName | None | Unset = UNSET,
        options: RequestOptions | None = None,
    ) -> TestedWebhookEndpointResponse:
        """Test a webhook endpoint.

        Sends an example event to the endpoint, signed like every event, and returns the result. Use it after you set up an endpoint, and when deliveries fail. The event is sent once, regardless of the response and of the status and events of the endpoint, and appears in the request log. The operation takes up to 10 seconds. If three tests of your organization are running, a further one waits for up to 10 seconds more, and is then refused.

        Args:
            event: The kind of event to send. Its fields are those of the example. The default is `AUTHENTICATED`.
        """
        result: TestedWebhookEndpointResponse = await self._send(
            operations.TEST_WEBHOOK_ENDPOINT, in_path={"id": id}, body=given({}, {"event": event}),
            options=options,
        )
        return result

    async def redeliver_webhook(
        self, id: str | int, *, event_id: str, options: RequestOptions | None = None,
    ) -> QueuedDeliveriesResponse:
        """Send an event again.

        Sends an event to the current URL of the endpoint once more, with retries, whether or not it was received before. Use it if your receiver lost an event. An event that waits for a retry is sent now, as one more attempt: if that fails, the retries go on. An event that is being sent gets no further attempt: `queued` is 0. Events are retained as long as the request log. The endpoint must be subscribed to the event. If it is paused, the event waits.

        Args:
            event_id: ID of the event: the `webhook-id` header of its deliveries.
        """
        result: QueuedDeliveriesResponse = await self._send(
            operations.REDELIVER_WEBHOOK, in_path={"id": id}, body=given({"event_id": event_id}),
            options=options,
        )
        return result

    async def get_webhook_recovery(
        self, id: str | int, *, options: RequestOptions | None = None,
    ) -> RecoveryResponse:
        """Get the last recovery of a webhook endpoint.

        Returns how far the last recovery has come. Use it after you requested one, until it is finished.
        """
        result: RecoveryResponse = await self._send(operations.GET_WEBHOOK_RECOVERY, in_path={"id": id}, options=options)
        return result

    async def recover_webhooks(
        self, id: str | int, *, since: datetime | str, options: RequestOptions | None = None,
    ) -> RecoveryResponse:
        """Recover missed events.

        Sends every event again that the endpoint has not received since a given time: events whose last attempt failed, and events that it missed while it was disabled. Events that it is not subscribed to are left out. Use it after an outage of your receiver. The service does this in the background. An endpoint has one recovery at a time: while one is running, the response describes that one. Events with pending retries are skipped, so you can safely repeat the request.

        Args:
            since: Start of the period. A time before the oldest entry of the request log counts as that.
        """
        result: RecoveryResponse = await self._send(
            operations.RECOVER_WEBHOOKS, in_path={"id": id}, body=given({"since": since}),
            options=options,
        )
        return result

    async def get_event(
        self, id: str | int, *, options: RequestOptions | None = None,
    ) -> EventStatusResponse:
        """Get the status of an event.

        Returns an event of any client, with its deliveries. Use it to find out whether the endpoints have received an event that you published. Events are kept as long as the request log.
        """
        result: EventStatusResponse = await self._send(operations.GET_EVENT, in_path={"id": id}, options=options)
        return result
