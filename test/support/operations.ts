/** An operation of the API. */
export interface TestedOperation {
  readonly id: string;
  readonly path: string;
  readonly needsCredentials: boolean;
  /** POST when it is left out. */
  readonly method?: string;
  /** Whose credentials it takes, where not those of either. */
  readonly environment?: 'development' | 'production';
  /** A body that it accepts. */
  readonly body?: Readonly<Record<string, unknown>>;
}

export interface BodyOperation extends TestedOperation {
  readonly body: Readonly<Record<string, unknown>>;
}

export const CREATE_MCP_TOKEN: BodyOperation = {
  id: 'createMcpToken',
  path: '/mcp/tokens/create',
  needsCredentials: true,
  body: { external_user_id: 'user-1', expires_in: 3600, phone_number: '+12125550123' },
};

export const SEARCH_DETECTED_ACCOUNTS: BodyOperation = {
  id: 'searchDetectedAccounts',
  path: '/detected-accounts/search',
  needsCredentials: true,
  body: { external_user_id: 'user-1', names: ['Netflix', 'door dash'] },
};

/** Answers 403 until it is enabled for the client. */
export const IDENTIFY_DETECTED_ACCOUNTS: BodyOperation = {
  id: 'identifyDetectedAccounts',
  path: '/detected_accounts/identify',
  needsCredentials: true,
  body: { external_user_id: 'user-1', name: ['Netflix', 'door dash'] },
};

export const SUBMIT_JOB_APPLICATION: BodyOperation = {
  id: 'submitJobApplication',
  path: '/apply',
  needsCredentials: false,
  body: {
    role: 'product_engineer',
    full_name: 'Ada Lovelace',
    email: 'ada@example.com',
    resume_url: 'https://example.com/ada.pdf',
    years_experience: 7,
    authorized_to_work: true,
    onsite_nyc: false,
    phone_number: '+442071838750',
    github_url: 'https://github.com/ada',
    linkedin_url: 'https://www.linkedin.com/in/ada',
    twitter_url: 'https://twitter.com/ada',
    website: 'https://ada.example.com',
    exceptional_at: 'Analytical engines.',
  },
};

export const LIST_AUDIT_LOGS: TestedOperation = {
  id: 'listAuditLogs',
  path: '/audit_logs',
  needsCredentials: true,
  method: 'GET',
  environment: 'production',
};

export const BODY_OPERATIONS: readonly BodyOperation[] = [
  CREATE_MCP_TOKEN,
  SEARCH_DETECTED_ACCOUNTS,
  IDENTIFY_DETECTED_ACCOUNTS,
  SUBMIT_JOB_APPLICATION,
];

export const OPERATIONS: readonly TestedOperation[] = [...BODY_OPERATIONS, LIST_AUDIT_LOGS];
