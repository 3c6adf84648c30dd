export { CareersModule } from './careers.module.js';
export type { JobApplication } from './job-application.entity.js';
export { JobApplicationsRepository } from './job-applications.repository.js';
