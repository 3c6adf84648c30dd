export { SamlConfigurationsModule } from './saml-configurations.module.js';
