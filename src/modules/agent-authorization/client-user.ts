/** Actor of entries about what users of a client do. The audit log does not name them. */
export const CLIENT_USER = { name: 'user of an API client', email: 'user of an API client' };
