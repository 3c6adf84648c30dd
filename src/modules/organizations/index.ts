export { FirstOrganization } from './first-organization.js';
export { AccountOperationsModule, OrganizationsModule } from './organizations.module.js';
export { OrganizationsService } from './organizations.service.js';
