import { Header } from '@nestjs/common';

/** For answers that carry a secret or a token: no cache may keep them (RFC 9111, section 5.2.2.5). */
export const NoStore = (): MethodDecorator => Header('Cache-Control', 'no-store');
