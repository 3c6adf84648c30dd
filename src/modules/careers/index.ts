export { CareersModule } from './careers.module.js';
export type { JobApplication } from './job-application.entity.js';
export { CareersService } from './careers.service.js';
