export { isPremiumRate } from './premium-rate.js';
export { UndeliverableTextMessage, type UndeliverableReason } from './text-message-sender.js';
export { TextMessages, type TextMessage } from './text-messages.js';
export { TextMessagesConfiguration } from './text-messages.configuration.js';
export { TextMessagesModule } from './text-messages.module.js';
export { checkTwilio } from './twilio.text-message-sender.js';
