/** Returns a function that creates log entries of API requests, of the clients in turn. */
export function entriesOf(clientIds) {
  let number = 0;
  return () => ({
    clientId: clientIds[(number += 1) % clientIds.length],
    environment: 'production',
    createdAt: new Date(),
    type: 'request',
    method: 'POST',
    path: '/mcp/tokens/create',
    url: null,
    event: null,
    statusCode: 200,
    latencyMilliseconds: 12,
    sessionId: null,
    taskId: null,
    externalUserId: `user-${number % 10_000}`,
  });
}
