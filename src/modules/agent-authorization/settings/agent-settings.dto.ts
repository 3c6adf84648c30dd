import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import { enumeration } from '../../../infrastructure/schemas/index.js';
import {
  ArrayField,
  EnumField,
  EnvironmentField,
  MESSAGES,
  TextField,
} from '../../../infrastructure/validation/index.js';
import { RedirectUrisField } from '../agents/agents.dto.js';
import {
  ALLOWED_AGENTS,
  SANDBOX_LOGINS,
  type AllowedAgents,
  type SandboxLogin,
} from './agent-setting.entity.js';

const ALLOWED = enumeration(
  'AllowedAgents',
  ALLOWED_AGENTS,
  'Which agents may log in. `hosts`: those of the listed hosts. Agents that you have registered may log in unless it is `off`.',
);
const SANDBOX = enumeration(
  'SandboxLogin',
  SANDBOX_LOGINS,
  'Who may log in as any user of the development environment, as long as it has no login page of its own. `members`: users of the dashboard of the organization. `anyone`: everybody who knows the address. A service that does not run in production always lets anyone log in.',
);
/** A host name, or a private-use scheme with its colon. */
const HOST =
  /^(?:(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]*[a-z0-9])?|[a-z][a-z0-9+.-]{0,62}:)$/;
const MAX_HOST_LENGTH = 253;
const EXAMPLE_LOGIN_URL = 'https://shop.example.com/connect-agent';

class EnvironmentRequest {
  @EnvironmentField({ description: 'The environment.' })
  environment!: PlatformEnvironment;
}

export class UpdateAgentSettingsRequest extends EnvironmentRequest {
  @EnumField(ALLOWED, { description: 'Which agents may log in.', example: 'hosts' })
  allowed_agents!: AllowedAgents;

  @ArrayField({
    in: 'form',
    required: false,
    max: 100,
    items: { type: 'string', maxLength: MAX_HOST_LENGTH, pattern: HOST.source },
    validateItem: (item, field) =>
      typeof item === 'string' && item.length <= MAX_HOST_LENGTH && HOST.test(item)
        ? undefined
        : MESSAGES.format(field),
    description:
      'Host names in lower case that agents may return users to, and schemes of apps on their devices, such as `cursor:`, which any ' +
      'app can claim. Without them, `hosts` allows only agents that you have registered.',
    example: ['claude.ai', 'chatgpt.com'],
  })
  allowed_hosts?: string[];

  /** Not a URL field, whose host names need a dot: `http://localhost:3000` is a login page, too. */
  @TextField({
    required: false,
    max: 2_000,
    format: 'uri',
    description:
      'The page of yours that logs users in: https, or http on this machine. Without it, users enter a connection code.',
    example: EXAMPLE_LOGIN_URL,
  })
  login_url?: string;

  @EnumField(SANDBOX, {
    required: false,
    description: 'Who may log in as any user of the sandbox. Without it, the setting stays as it is.',
    example: 'members',
  })
  sandbox_login?: SandboxLogin;
}

export class CreateAgentRequest extends EnvironmentRequest {
  @TextField({ max: 200, description: 'The name that users see.', example: 'Example Agent' })
  name!: string;

  @RedirectUrisField({ in: 'form' })
  redirect_uris!: string[];
}

export interface AgentResponse {
  readonly id: string;
  readonly name: string;
  readonly redirect_uris: string[];
}

export interface AgentSettingsResponse {
  readonly connector_url: string;
  readonly allowed_agents: AllowedAgents;
  readonly allowed_hosts: string[];
  readonly login_url: string | null;
  readonly sandbox_login: SandboxLogin;
  readonly registered_agents: AgentResponse[];
}
