const DEFAULTS: Readonly<Record<string, string>> = {
  'User-Agent': 'MerchantConnectivityService/1.0',
  // Common firewalls refuse requests without it.
  Accept: '*/*',
  // Responses are read as they are.
  'Accept-Encoding': 'identity',
};

type OutgoingHeaders = Readonly<Record<string, string>>;

/** Returns the headers of a request that leaves, with those that every request has. */
export function outgoingHeaders(headers: OutgoingHeaders): OutgoingHeaders {
  const names = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  const missing = Object.entries(DEFAULTS).filter(([name]) => !names.has(name.toLowerCase()));
  return { ...headers, ...Object.fromEntries(missing) };
}
