import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CareersController } from './careers.controller.js';
import { CareersService } from './careers.service.js';
import { JobApplication } from './job-application.entity.js';

/** Receives the job applications of a careers page. */
@Module({
  imports: [TypeOrmModule.forFeature([JobApplication])],
  controllers: [CareersController],
  providers: [CareersService],
  exports: [CareersService],
})
export class CareersModule {}
