import { Global, Module, type OnModuleInit } from '@nestjs/common';
import { KeyRepository } from './key.repository.js';
import { KeyWrapper, LocalKeyWrapper } from './key-wrapper.js';
import { Sealer } from './sealer.js';
import { SecretDigest } from './secret-digest.js';

@Global()
@Module({
  providers: [SecretDigest, Sealer, KeyRepository, { provide: KeyWrapper, useClass: LocalKeyWrapper }],
  exports: [SecretDigest, Sealer],
})
export class CryptoModule implements OnModuleInit {
  constructor(private readonly sealer: Sealer) {}

  /** Before anything else can seal or open: a process with the wrong keys must not come up. */
  async onModuleInit(): Promise<void> {
    await this.sealer.unlock();
  }
}
