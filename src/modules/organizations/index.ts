export { FirstOrganization } from './first-organization.js';
export { OrganizationsModule } from './organizations.module.js';
export { OrganizationsService, type CreatedOrganization } from './organizations.service.js';
