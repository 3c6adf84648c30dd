import { htmlOf, textOf, type MailPart } from './mail-body.js';

const LINK = `https://dashboard.example.com/password-reset/confirm?token=${'x'.repeat(80)}`;
const BODY: readonly MailPart[] = [
  'Someone, probably you, requested a new password for your account. This paragraph is longer than one line.',
  { link: LINK, label: 'Set a new password' },
  { facts: { Browser: '<b>Firefox</b>', 'IP address': '203.0.113.7' } },
  { steps: ['Enable the endpoint.', 'Send the events again.'] },
];

describe('The body of an email', () => {
  it('is text in short lines, whose links stay whole', () => {
    expect(textOf(BODY)).toBe(`Someone, probably you, requested a new password for your account. This
paragraph is longer than one line.

${LINK}

Browser: <b>Firefox</b>
IP address: 203.0.113.7

1. Enable the endpoint.
2. Send the events again.

-- 
Merchant Connectivity
`);
  });

  it('is the same as HTML, with values escaped', () => {
    const html = htmlOf('Set a new password', BODY);
    expect(html).toContain('<title>Set a new password</title>');
    expect(html).toContain(`<a href="${LINK}"`);
    expect(html).toContain('&lt;b>Firefox&lt;/b>');
    expect(html).not.toContain('<b>Firefox');
    expect(html).toContain('<li>Enable the endpoint.</li>');
    expect(html).not.toMatch(/<(?:script|img|link)/);
  });
});
