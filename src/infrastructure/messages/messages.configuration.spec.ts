import 'reflect-metadata';
import { loadConfiguration } from '../config/index.js';
import { MailConfiguration } from './messages.configuration.js';

describe('SMTP_URL', () => {
  it.each([
    ['smtps://user:password@mail.example.com:465', 'smtps://user:password@mail.example.com:465'],
    ['smtp://user:p%40ss@mail.example.com:465', 'smtps://user:p%40ss@mail.example.com:465'],
    ['SMTP://[::1]:465?tls.servername=a', 'smtps://[::1]:465?tls.servername=a'],
    ['smtp://mail.example.com:587', 'smtp://mail.example.com:587'],
    ['smtp://465:465@mail.example.com', 'smtp://465:465@mail.example.com'],
  ])('%s uses TLS as its port requires', (url, used) =>
    expect(loadConfiguration({ SMTP_URL: url }).get(MailConfiguration).transportUrl).toBe(used),
  );
});
