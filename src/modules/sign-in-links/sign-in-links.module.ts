import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { MerchantsModule } from '../merchants/index.js';
import { OrganizationsModule } from '../organizations/index.js';
import { MerchantSignIn } from './merchant-sign-in.js';
import { SandboxMerchantSignIn } from './sandbox-merchant-sign-in.js';
import { SignInLink } from './sign-in-link.entity.js';
import { SignInLinksRepository } from './sign-in-links.repository.js';
import { SignInLinksService } from './sign-in-links.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([SignInLink]), MerchantsModule, OrganizationsModule],
  providers: [
    SignInLinksService,
    SignInLinksRepository,
    { provide: MerchantSignIn, useClass: SandboxMerchantSignIn },
  ],
  exports: [SignInLinksService],
})
export class SignInLinksModule {}
