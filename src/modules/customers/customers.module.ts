import { Module } from '@nestjs/common';
import { AgentAuthorizationModule } from '../agent-authorization/index.js';
import { ApiClientsModule } from '../api-clients/index.js';
import { MerchantAccountsModule } from '../merchant-accounts/index.js';
import { RequestLogsModule } from '../request-logs/index.js';
import './customers.capability.js';
import { CustomersJob } from './customers.job.js';
import { CustomersPage } from './customers.pages.js';
import { CustomersRepository } from './customers.repository.js';
import { CustomersService } from './customers.service.js';

/** The users of each organization: a list for the dashboard, which a job keeps from the request log. */
@Module({
  imports: [AgentAuthorizationModule, ApiClientsModule, MerchantAccountsModule, RequestLogsModule],
  controllers: [CustomersPage],
  providers: [CustomersJob, CustomersRepository, CustomersService],
  exports: [CustomersService],
})
export class CustomersModule {}
