import { Module } from '@nestjs/common';
import { InjectCommander } from 'nest-commander';
import {
  ApplicationCommand,
  ExportApplicationsCommand,
  ListApplicationsCommand,
} from './commands/application.command.js';
import {
  AuditCommand,
  ExportAuditLogCommand,
  ShowAuditHeadCommand,
  VerifyAuditLogCommand,
} from './commands/audit.command.js';
import {
  ActivateSecretCommand,
  ClientCommand,
  CreateClientCommand,
  EnableOperationCommand,
  ListClientsCommand,
  RotateSecretCommand,
} from './commands/client.command.js';
import { DataKeyCommand, RewrapDataKeysCommand } from './commands/data-key.command.js';
import { DetectionCommand, ImportDetectionsCommand } from './commands/detection.command.js';
import { MigrateCommand } from './commands/migrate.command.js';
import { CreateOrganizationCommand, OrganizationCommand } from './commands/organization.command.js';
import {
  ExportRequestLogCommand,
  RequestLogCommand,
  ShowRequestLogPartitionsCommand,
  TailRequestLogCommand,
} from './commands/request-log.command.js';
import {
  ListTokenKeysCommand,
  RotateTokenKeyCommand,
  TokenKeyCommand,
} from './commands/token-key.command.js';
import { AddUserCommand, UserCommand } from './commands/user.command.js';
import { OperatorSession } from './operator-session.js';

/** Contains only the commands; each opens the application when it runs. */
@Module({
  providers: [
    OperatorSession,
    OrganizationCommand,
    CreateOrganizationCommand,
    ClientCommand,
    ListClientsCommand,
    CreateClientCommand,
    RotateSecretCommand,
    ActivateSecretCommand,
    EnableOperationCommand,
    UserCommand,
    AddUserCommand,
    DataKeyCommand,
    RewrapDataKeysCommand,
    DetectionCommand,
    ImportDetectionsCommand,
    ApplicationCommand,
    ListApplicationsCommand,
    ExportApplicationsCommand,
    AuditCommand,
    VerifyAuditLogCommand,
    ShowAuditHeadCommand,
    ExportAuditLogCommand,
    RequestLogCommand,
    TailRequestLogCommand,
    ExportRequestLogCommand,
    ShowRequestLogPartitionsCommand,
    TokenKeyCommand,
    ListTokenKeysCommand,
    RotateTokenKeyCommand,
    MigrateCommand,
  ],
})
export class CliModule {
  constructor(@InjectCommander() commander: { name(text: string): unknown }) {
    // Commander would show the name of the file.
    commander.name('npm run cli --');
  }
}
