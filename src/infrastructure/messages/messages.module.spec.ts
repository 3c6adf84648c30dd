import { loadConfiguration, ServiceConfiguration, type PlatformEnvironment } from '../config/index.js';
import { HttpClient, HttpClientConfiguration } from '../http-client/index.js';
import { MessageFiles } from './message-files.js';
import { Clock } from '../time/index.js';
import { Tracing } from '../tracing/index.js';
import { FileTextMessageSender, TwilioTextMessageSender } from './text-messages.js';
import { TextMessagesConfiguration } from './messages.configuration.js';
import { textMessageSenders } from './messages.module.js';

const SETTINGS = { TWILIO_ACCOUNT_SID: 'AC0123', TWILIO_AUTH_TOKEN: 'secret', TWILIO_FROM: '+12125550199' };

function senderWith(
  environment: Record<string, string>,
  platformEnvironment: PlatformEnvironment = 'production',
): object {
  const configuration = loadConfiguration(environment);
  const http = new HttpClient(configuration.get(HttpClientConfiguration), new Clock(), new Tracing());
  const [settings, service] = [
    configuration.get(TextMessagesConfiguration),
    configuration.get(ServiceConfiguration),
  ];
  return textMessageSenders(settings, service, http, new MessageFiles(service, new Clock())).of[
    platformEnvironment
  ];
}

describe('Text messages', () => {
  it('are files unless Twilio is configured', () => {
    expect(senderWith({})).toBeInstanceOf(FileTextMessageSender);
    expect(senderWith(SETTINGS)).toBeInstanceOf(TwilioTextMessageSender);
  });

  it('are files in development, unless a setting says otherwise', () => {
    expect(senderWith(SETTINGS, 'development')).toBeInstanceOf(FileTextMessageSender);
    const both = { ...SETTINGS, TEXT_MESSAGES_IN_DEVELOPMENT: 'on' };
    expect(senderWith(both, 'development')).toBeInstanceOf(TwilioTextMessageSender);
  });

  it.each(Object.keys(SETTINGS))('require %s with the other settings of Twilio', (missing) => {
    const names = Object.keys(SETTINGS).filter((name) => name !== missing);
    expect(() => senderWith({ ...SETTINGS, [missing]: '' })).toThrow(
      `${names[0]} requires the other settings of Twilio: set TWILIO_ACCOUNT_SID, TWILIO_AUTH_TOKEN and TWILIO_FROM, or none of them.`,
    );
  });

  it('require a public https URL of the provider', () => {
    const environment = { ...SETTINGS, TWILIO_API_URL: 'http://127.0.0.1:1' };
    expect(() => senderWith(environment)).toThrow(
      'TWILIO_API_URL must be a public https URL, unless WEBHOOK_TARGETS is any.',
    );
    expect(senderWith({ ...environment, WEBHOOK_TARGETS: 'any' })).toBeInstanceOf(TwilioTextMessageSender);
  });
});
