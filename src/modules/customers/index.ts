export { CustomersModule } from './customers.module.js';
export { CustomersJob } from './customers.job.js';
export { CustomersService } from './customers.service.js';
