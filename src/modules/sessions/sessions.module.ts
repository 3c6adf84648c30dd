import { Module } from '@nestjs/common';
import { ApiClientsModule } from '../api-clients/index.js';
import { SessionsController } from './sessions.controller.js';
import { SessionsRepository } from './sessions.repository.js';
import { SessionsService } from './sessions.service.js';
import './sessions.capability.js';

/** Sessions of the client SDK and their metadata. */
@Module({
  imports: [ApiClientsModule],
  controllers: [SessionsController],
  providers: [SessionsService, SessionsRepository],
  exports: [SessionsService, SessionsRepository],
})
export class SessionsModule {}
