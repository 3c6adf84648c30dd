export { MailConfiguration, TextMessagesConfiguration } from './messages.configuration.js';
export {
  checkMail,
  Mailer,
  replyIn,
  SMTP_CONNECTIONS,
  UndeliverableMail,
  type MailContent,
  type RenderedMail,
} from './mailer.js';
export { MessagesModule } from './messages.module.js';
export { checkTwilio, UndeliverableTextMessage, type UndeliverableReason } from './text-message-sender.js';
export { isPremiumRate, TextMessages, type TextMessage } from './text-messages.js';
