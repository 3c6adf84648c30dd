export { MailConfiguration } from './mail.configuration.js';
export { Mailer, type Mail, type RenderedMail } from './mailer.js';
export { MessagesModule } from './messages.module.js';
export { checkMail } from './smtp.mailer.js';
export { UndeliverableTextMessage, type UndeliverableReason } from './text-message-sender.js';
export { isPremiumRate, TextMessages, type TextMessage } from './text-messages.js';
export { TextMessagesConfiguration } from './text-messages.configuration.js';
export { checkTwilio } from './twilio.text-message-sender.js';
