import * as oauth from 'oauth4webapi';
import * as client from 'openid-client';
import { SCOPES } from '../../../src/infrastructure/auth/index.js';
import { SECOND } from '../../../src/infrastructure/time/index.js';
import { ApiKeysService } from '../../../src/modules/api-keys/index.js';
import { stopClock } from '../../support/clock.js';
import { decide, freshAddress } from '../../support/logins/device-flow.js';
import { rememberSecret } from '../../support/runner/run-directory.js';
import { useTestApp, useLogin } from '../../support/test-app.js';

const TIMEOUT = 60_000;
const INSECURE = { [oauth.allowInsecureRequests]: true } as const;

const service = useTestApp({ TRUSTED_PROXY_HOPS: '1', OAUTH_REQUESTS_PER_MINUTE: '100000' });
const user = useLogin(service);

/** The libraries' fetch with a fresh address, so that no rate limit applies. */
const fetchFresh = (url: string, options: object): Promise<Response> => {
  const headers = new Headers((options as RequestInit).headers);
  headers.set('x-forwarded-for', freshAddress());
  return fetch(url, { ...(options as RequestInit), headers });
};

describe('openid-client, unmodified', () => {
  let configuration: client.Configuration;

  beforeAll(async () => {
    configuration = await client.discovery(
      new URL(service.baseUrl),
      service.development.clientId,
      undefined,
      client.None(),
      { algorithm: 'oauth2', execute: [client.allowInsecureRequests], [client.customFetch]: fetchFresh },
    );
    configuration[client.customFetch] = fetchFresh;
  });

  /** Shortens the announced 5 seconds to 1, to save time. */
  const initiate = async (parameters: Record<string, string> = {}) => {
    const flow = await client.initiateDeviceAuthorization(configuration, parameters);
    rememberSecret(flow.device_code, flow.user_code);
    expect(flow).toMatchObject({
      expires_in: 600,
      interval: 5,
      verification_uri: `${service.baseUrl}/device`,
    });
    return flow;
  };

  it('discovers all endpoints from the metadata', async () => {
    const { body } = await service.request('/.well-known/oauth-authorization-server');
    expect(configuration.serverMetadata()).toMatchObject(body);
    expect(body).toMatchObject({
      issuer: service.baseUrl,
      token_endpoint: `${service.baseUrl}/oauth/token`,
      device_authorization_endpoint: `${service.baseUrl}/oauth/device/code`,
      revocation_endpoint: `${service.baseUrl}/oauth/revoke`,
      introspection_endpoint: `${service.baseUrl}/oauth/introspect`,
      jwks_uri: `${service.baseUrl}/.well-known/jwks.json`,
      grant_types_supported: [
        'urn:ietf:params:oauth:grant-type:device_code',
        'client_credentials',
        'urn:ietf:params:oauth:grant-type:jwt-bearer',
      ],
      response_types_supported: [],
      scopes_supported: SCOPES,
      token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
      revocation_endpoint_auth_methods_supported: ['none'],
      introspection_endpoint_auth_methods_supported: ['client_secret_basic'],
    });
  });

  it('gets a token for an API key', async () => {
    const { clientId } = service.production;
    const { token: key } = await service.app
      .get(ApiKeysService)
      .create(clientId, { name: 'openid-client', scopes: ['request_logs:read', 'merchants:read'] });
    rememberSecret(key);
    const own = await client.discovery(
      new URL(service.baseUrl),
      clientId,
      undefined,
      client.ClientSecretBasic(key),
      { algorithm: 'oauth2', execute: [client.allowInsecureRequests], [client.customFetch]: fetchFresh },
    );
    const tokens = await client.clientCredentialsGrant(own, { scope: 'request_logs:read' });
    rememberSecret(tokens.access_token);
    expect(tokens).toMatchObject({ token_type: 'bearer', expires_in: 900, scope: 'request_logs:read' });
    const path = '/request-logs?environment=production';
    expect((await service.request(path, { token: tokens.access_token })).status).toBe(200);
    // The library sends the same credentials to all endpoints.
    await client.tokenRevocation(own, tokens.access_token);
    expect((await service.request(path, { token: tokens.access_token })).status).toBe(401);
  });

  it(
    'polls, slows down when told to, and gets its token',
    async () => {
      const flow = await initiate({ scope: 'request_logs:read' });
      const seen: unknown[] = [];
      configuration[client.customFetch] = async (url, options) => {
        const response = await fetchFresh(url, options);
        const { error } = (await response.clone().json()) as { error?: string };
        if (url.endsWith('/oauth/token')) seen.push(error ?? response.status);
        return response;
      };
      const granted = client.pollDeviceAuthorizationGrant(configuration, { ...flow, interval: 1 });
      setTimeout(() => void decide(service, user, flow.user_code), 4 * SECOND);
      const tokens = await granted;
      rememberSecret(tokens.access_token);
      configuration[client.customFetch] = fetchFresh;
      expect(tokens).toMatchObject({ token_type: 'bearer', expires_in: 900 });
      expect(seen).toEqual(['authorization_pending', 'slow_down', 200]);
      await client.tokenRevocation(configuration, tokens.access_token);
      expect((await service.request('/me', { token: tokens.access_token })).status).toBe(401);
    },
    TIMEOUT,
  );

  it(
    'reports a declined request',
    async () => {
      const flow = await initiate();
      await decide(service, user, flow.user_code, 'deny');
      await expect(
        client.pollDeviceAuthorizationGrant(configuration, { ...flow, interval: 1 }),
      ).rejects.toMatchObject({ error: 'access_denied', status: 400 });
    },
    TIMEOUT,
  );

  it(
    'reports an expired code',
    async () => {
      const flow = await initiate();
      using _clock = stopClock(service, new Date(Date.now() + 601 * SECOND));
      await expect(
        client.pollDeviceAuthorizationGrant(configuration, { ...flow, interval: 1 }),
      ).rejects.toMatchObject({ error: 'expired_token', status: 400 });
    },
    TIMEOUT,
  );

  it('gets a code although it asks for the scopes of OpenID Connect', async () => {
    const flow = await client.initiateDeviceAuthorization(configuration, { scope: 'openid offline_access' });
    expect(flow).toMatchObject({ interval: 5 });
  });

  it('reports an unknown client', async () => {
    const metadata = configuration.serverMetadata();
    const unknownClient = new client.Configuration(
      metadata,
      '00000000-0000-4000-8000-000000000000',
      undefined,
      client.None(),
    );
    client.allowInsecureRequests(unknownClient);
    await expect(client.initiateDeviceAuthorization(unknownClient, {})).rejects.toMatchObject({
      status: 401,
      error: 'invalid_client',
      error_description: 'The client ID is not known.',
    });
  });
});

describe('oauth4webapi, unmodified', () => {
  let server: oauth.AuthorizationServer;

  beforeAll(async () => {
    const issuer = new URL(service.baseUrl);
    const response = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...INSECURE });
    server = await oauth.processDiscoveryResponse(issuer, response);
  });

  const device = (): oauth.Client => ({ client_id: service.development.clientId });

  async function issue(): Promise<string> {
    const requested = await oauth.deviceAuthorizationRequest(server, device(), oauth.None(), {}, INSECURE);
    const flow = await oauth.processDeviceAuthorizationResponse(server, device(), requested);
    rememberSecret(flow.device_code, flow.user_code);
    await decide(service, user, flow.user_code);
    const response = await oauth.deviceCodeGrantRequest(
      server,
      device(),
      oauth.None(),
      flow.device_code,
      INSECURE,
    );
    const { access_token } = await oauth.processDeviceCodeResponse(server, device(), response);
    rememberSecret(access_token);
    return access_token;
  }

  const validate = (token: string, audience = service.baseUrl) =>
    oauth.validateJwtAccessToken(
      server,
      new Request(`${service.baseUrl}/me`, { headers: { authorization: `Bearer ${token}` } }),
      audience,
      INSECURE,
    );

  it('verifies an access token with the discovered keys (RFC 9068)', async () => {
    const token = await issue();
    expect(await validate(token)).toMatchObject({
      sub: user.userId,
      client_id: service.development.clientId,
      scope: 'request_logs:read webhook_endpoints:read webhook_endpoints:write',
      environment: 'development',
      roles: ['owner'],
      org: service.organizationId,
    });
    await expect(validate(token, 'https://other.example')).rejects.toThrow();
    await expect(validate(`${token.slice(0, -4)}AAAA`)).rejects.toThrow();
  });

  it('introspects with client credentials and revokes without', async () => {
    const token = await issue();
    const introspect = async (credentials = service.development) => {
      const known = { client_id: credentials.clientId };
      const basic = oauth.ClientSecretBasic(credentials.secret);
      // The library form-encodes the credentials (RFC 6749, section 2.3.1).
      rememberSecret(credentials.secret);
      const response = await oauth.introspectionRequest(server, known, basic, token, INSECURE);
      return oauth.processIntrospectionResponse(server, known, response);
    };
    expect(await introspect()).toMatchObject({ active: true, sub: user.userId, token_type: 'Bearer' });
    expect(await introspect(service.production)).toEqual({ active: false });
    const revoked = await oauth.revocationRequest(server, device(), oauth.None(), token, INSECURE);
    await oauth.processRevocationResponse(revoked);
    expect(await introspect()).toEqual({ active: false });
  });
});
