export { AgentConnectorModule } from './agent-connector.module.js';
