/** Actor of entries about what users of a client do. The audit log does not name them. */
export const AGENT_USER = { name: 'user of an agent', email: 'user of an agent' };
