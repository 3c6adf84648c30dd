import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import {
  ArrayField,
  EnumField,
  EnvironmentField,
  TextField,
} from '../../../infrastructure/validation/index.js';
import type { AgentSettings } from '../agent-issuer.js';
import { RedirectUrisField } from '../agents/agents.dto.js';
import type { RegisteredAgent } from '../agents/registered-agent.entity.js';
import {
  ALLOWED_AGENTS,
  SANDBOX_LOGINS,
  type AllowedAgents,
  type SandboxLogin,
} from '../agent-setting.entity.js';

const HOST = /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;
/** A private-use scheme with its colon. */
const SCHEME = /^[a-z][a-z0-9+.-]{0,62}:$/;
const MAX_HOST_LENGTH = 253;

/** @param problem what an item is that matches none of the patterns */
function HostsField(patterns: readonly RegExp[], problem: string): PropertyDecorator {
  return ArrayField({
    in: 'form',
    required: false,
    max: 100,
    items: { type: 'string' },
    validateItem: (item, name) =>
      typeof item === 'string' &&
      item.length <= MAX_HOST_LENGTH &&
      patterns.some((pattern) => pattern.test(item))
        ? undefined
        : `${name} ${problem}`,
  });
}

class EnvironmentRequest {
  @EnvironmentField({ in: 'form' })
  environment!: PlatformEnvironment;
}

export class UpdateAgentSettingsRequest extends EnvironmentRequest {
  /** Agents that the organization has registered may log in unless it is `off`. */
  @EnumField(ALLOWED_AGENTS, { in: 'form' })
  allowed_agents!: AllowedAgents;

  /** In lower case. Without them, `hosts` allows only agents that the organization has registered. */
  @HostsField(
    [HOST, SCHEME],
    'is neither a host name in lower case, such as claude.ai, nor the scheme of an app, such as “cursor:”.',
  )
  allowed_hosts?: string[];

  /** Not a URL field, whose host names need a dot: `http://localhost:3000` is a login page, too. */
  @TextField({ in: 'form', required: false, max: 2_000, format: 'uri' })
  login_url?: string;

  /** In lower case. If there are none, sign-in links return nowhere. */
  @HostsField(
    [HOST],
    'is not a host name in lower case without a scheme, port or path, such as shop.example.com.',
  )
  return_hosts?: string[];

  /** Without it, the setting stays as it is. */
  @EnumField(SANDBOX_LOGINS, { in: 'form', required: false })
  sandbox_login?: SandboxLogin;
}

export class CreateAgentRequest extends EnvironmentRequest {
  @TextField({ in: 'form', max: 200 })
  name!: string;

  @RedirectUrisField({ in: 'form' })
  redirect_uris!: string[];
}

export interface ShownAgentSettings extends AgentSettings {
  readonly connectorUrl: string;
  readonly registeredAgents: readonly RegisteredAgent[];
}
