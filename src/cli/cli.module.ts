import { Module } from '@nestjs/common';
import { InjectCommander } from 'nest-commander';
import { ApplicationCommand } from './commands/application.command.js';
import { AuditCommand } from './commands/audit.command.js';
import { ClientCommand } from './commands/client.command.js';
import { DataKeyCommand } from './commands/data-key.command.js';
import { DatabaseCommand } from './commands/database.command.js';
import { DetectionCommand } from './commands/detection.command.js';
import { DoctorCommand } from './commands/doctor.command.js';
import { EndpointCommand } from './commands/endpoint.command.js';
import { MigrateCommand } from './commands/migrate.command.js';
import { OrganizationCommand } from './commands/organization.command.js';
import { RequestLogCommand } from './commands/request-log.command.js';
import { ServiceTokenCommand } from './commands/service-token.command.js';
import { TokenKeyCommand } from './commands/token-key.command.js';
import { UserCommand } from './commands/user.command.js';
import { OperatorSession } from './operator-session.js';

/** Contains only the commands; each opens the application when it runs. */
@Module({
  providers: [
    OperatorSession,
    ...OrganizationCommand.registerWithSubCommands(),
    ...ClientCommand.registerWithSubCommands(),
    ...UserCommand.registerWithSubCommands(),
    ...EndpointCommand.registerWithSubCommands(),
    ...DatabaseCommand.registerWithSubCommands(),
    ...DataKeyCommand.registerWithSubCommands(),
    ...DetectionCommand.registerWithSubCommands(),
    ...ApplicationCommand.registerWithSubCommands(),
    ...AuditCommand.registerWithSubCommands(),
    ...RequestLogCommand.registerWithSubCommands(),
    ...ServiceTokenCommand.registerWithSubCommands(),
    ...TokenKeyCommand.registerWithSubCommands(),
    MigrateCommand,
    DoctorCommand,
  ],
})
export class CliModule {
  constructor(@InjectCommander() commander: { name(text: string): unknown }) {
    // Commander would show the name of the file.
    commander.name('npm run cli --');
  }
}
