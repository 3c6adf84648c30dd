import { Module } from '@nestjs/common';
import { CareersController } from './careers.controller.js';
import { CareersService } from './careers.service.js';

/** Operation 8: receives the job applications of a careers page. */
@Module({ controllers: [CareersController], providers: [CareersService], exports: [CareersService] })
export class CareersModule {}
