import { Global, Module } from '@nestjs/common';
import { UserPseudonyms } from './user-pseudonyms.js';

@Global()
@Module({ providers: [UserPseudonyms], exports: [UserPseudonyms] })
export class ErasureModule {}
