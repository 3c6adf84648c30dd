import { Global, Logger, Module } from '@nestjs/common';
import { ServiceConfiguration } from '../config/index.js';
import { OperatorError } from '../errors/index.js';
import { HttpClient } from '../http-client/index.js';
import { Metrics } from '../metrics/index.js';
import { FileTextMessages } from './file.text-messages.js';
import { TextMessages } from './text-messages.js';
import { TextMessagesConfiguration } from './text-messages.configuration.js';
import { TwilioTextMessages } from './twilio.text-messages.js';

/** @throws OperatorError if the HTTP client must not send requests to the provider's URL */
export function textMessages(
  { account }: TextMessagesConfiguration,
  service: ServiceConfiguration,
  http: HttpClient,
  metrics: Metrics,
): TextMessages {
  if (account) {
    if (http.urlProblem(account.apiUrl) === undefined) return new TwilioTextMessages(metrics, account, http);
    throw new OperatorError('TWILIO_API_URL must be a public https URL, unless WEBHOOK_TARGETS is any.');
  }
  if (service.isProduction && service.serves('connector')) {
    new Logger('Text messages').warn(
      'TWILIO_ACCOUNT_SID is not set: text messages are written to files in DATA_DIR/messages, and their recipients do not get them',
    );
  }
  return new FileTextMessages(metrics, service.dataDirectory);
}

@Global()
@Module({
  providers: [
    {
      provide: TextMessages,
      inject: [TextMessagesConfiguration, ServiceConfiguration, HttpClient, Metrics],
      useFactory: textMessages,
    },
  ],
  exports: [TextMessages],
})
export class TextMessagesModule {}
