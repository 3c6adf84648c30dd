/** Whether an address is on this machine, so that what is sent to it crosses no network. */
export function isLoopback({ hostname }: URL): boolean {
  // The URL parser has already turned other forms, such as `127.1`, into four numbers.
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
