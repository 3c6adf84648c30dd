import { Injectable } from '@nestjs/common';
import { AuthGuard } from '@nestjs/passport';
import { INVALID_API_KEYS } from '../errors/index.js';
import { BASIC_CHALLENGE } from './basic.strategy.js';

/** Lets in who presents the credentials of an API client; everyone else gets one and the same 401. */
@Injectable()
export class BasicAuthGuard extends AuthGuard('basic') {
  override handleRequest<Caller>(error: unknown, caller: Caller): Caller {
    if (error) throw error;
    if (!caller) {
      throw INVALID_API_KEYS.error(undefined, { headers: { 'WWW-Authenticate': BASIC_CHALLENGE } });
    }
    return caller;
  }
}
