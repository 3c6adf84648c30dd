export * from './class-validator-rules.js';
export * from './express-server.js';
export * from './nest-routes.js';
export * from './passport-framework.js';
export * from './pg-and-typeorm.js';
export * from './request-class.js';
export * from './response-class.js';
export * from './swagger-references.js';
