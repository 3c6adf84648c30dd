export { CareersModule } from './careers.module.js';
export { CareersService } from './careers.service.js';
