import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { ApiClientsModule } from '../api-clients/index.js';
import { AuditLogsModule } from '../audit-logs/index.js';
import { ErasedUsersRegister } from './erased-users-register.js';
import { ExternalUsersController } from './external-users.controller.js';
import { UserErasuresJob } from './user-erasures.job.js';
import { UserErasuresRepository } from './user-erasures.repository.js';
import { UserErasuresService } from './user-erasures.service.js';
import './external-users.capability.js';

/** Erasing a user: the job that has all modules erase what they store, and its progress. */
@Module({
  imports: [ApiClientsModule, AuditLogsModule, DiscoveryModule],
  controllers: [ExternalUsersController],
  providers: [ErasedUsersRegister, UserErasuresService, UserErasuresJob, UserErasuresRepository],
  exports: [ErasedUsersRegister, UserErasuresService],
})
export class ExternalUsersModule {}
