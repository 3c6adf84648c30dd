import { Entity } from 'typeorm';
import type { ServiceScope } from '../../infrastructure/auth/index.js';
import { IssuedToken } from '../../infrastructure/issued-tokens/index.js';

/** A credential of one of the platform's own services. */
@Entity({ name: 'service_token' })
export class ServiceToken extends IssuedToken<ServiceScope> {}
