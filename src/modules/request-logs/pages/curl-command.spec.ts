import { curlOfRequest } from './curl-command.js';

describe('The curl command of a request', () => {
  it('does not let curl expand brackets and braces of the URL', () => {
    const entry = { method: 'GET', path: '/users/[1-9]{a,b}', secret_version: null };
    const command = curlOfRequest(entry, 'https://api.example.com');
    expect(command.split(' ').slice(0, 2)).toEqual(['curl', '-sSg']);
  });
});
