import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DashboardSessionVerifier } from '../../infrastructure/auth/index.js';
import { AccessGrant } from './access-grants/access-grant.entity.js';
import { DashboardSession } from './sessions/dashboard-session.entity.js';
import { DashboardSessionsRepository } from './sessions/dashboard-sessions.repository.js';
import { DashboardSessions } from './sessions/dashboard-sessions.service.js';
import { DashboardUser } from './users/dashboard-user.entity.js';
import { DashboardUsersRepository } from './users/dashboard-users.repository.js';
import { DashboardUsersService } from './users/dashboard-users.service.js';

/** The people and their logins. Global, because the guards ask for the port of sessions everywhere. */
@Global()
@Module({
  imports: [TypeOrmModule.forFeature([DashboardUser, DashboardSession, AccessGrant])],
  providers: [
    DashboardUsersService,
    DashboardUsersRepository,
    DashboardSessions,
    DashboardSessionsRepository,
    { provide: DashboardSessionVerifier, useExisting: DashboardSessions },
  ],
  exports: [
    DashboardUsersService,
    DashboardUsersRepository,
    DashboardSessions,
    DashboardSessionsRepository,
    DashboardSessionVerifier,
  ],
})
export class DashboardUsersModule {}
