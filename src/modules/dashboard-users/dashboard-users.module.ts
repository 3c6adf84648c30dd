import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DashboardUser } from './dashboard-user.entity.js';
import { DashboardUsersRepository } from './dashboard-users.repository.js';
import { DashboardUsersService } from './dashboard-users.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([DashboardUser])],
  providers: [DashboardUsersService, DashboardUsersRepository],
  exports: [DashboardUsersService],
})
export class DashboardUsersModule {}
