/** An operation of the API, with a body that it accepts. */
export interface TestedOperation {
  readonly id: string;
  readonly path: string;
  readonly needsCredentials: boolean;
  readonly body: Readonly<Record<string, unknown>>;
}

export const CREATE_MCP_TOKEN: TestedOperation = {
  id: 'createMcpToken',
  path: '/mcp/tokens/create',
  needsCredentials: true,
  body: { external_user_id: 'user-1', expires_in: 3600, phone_number: '+12125550123' },
};

export const SEARCH_DETECTED_ACCOUNTS: TestedOperation = {
  id: 'searchDetectedAccounts',
  path: '/detected-accounts/search',
  needsCredentials: true,
  body: { external_user_id: 'user-1', names: ['Netflix', 'door dash'] },
};

/** Answers 403 until it is enabled for the client. */
export const IDENTIFY_DETECTED_ACCOUNTS: TestedOperation = {
  id: 'identifyDetectedAccounts',
  path: '/detected_accounts/identify',
  needsCredentials: true,
  body: { external_user_id: 'user-1', name: ['Netflix', 'door dash'] },
};

export const SUBMIT_JOB_APPLICATION: TestedOperation = {
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

export const OPERATIONS: readonly TestedOperation[] = [
  CREATE_MCP_TOKEN,
  SEARCH_DETECTED_ACCOUNTS,
  IDENTIFY_DETECTED_ACCOUNTS,
  SUBMIT_JOB_APPLICATION,
];
