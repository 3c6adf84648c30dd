export { MailModule } from './mail.module.js';
export { MailConfiguration } from './mail.configuration.js';
export { checkMail } from './smtp.mailer.js';
export { Mailer, type Mail, type RenderedMail } from './mailer.js';
