export { SandboxModule } from './sandbox.module.js';
