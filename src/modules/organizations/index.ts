export { FirstOrganization } from './first-organization.js';
export { OrganizationsModule } from './organizations.module.js';
export { OrganizationsService } from './organizations.service.js';
