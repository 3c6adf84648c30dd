import { Global, Module, type OnModuleInit } from '@nestjs/common';
import { CursorCodec } from './cursor-codec.js';
import { KeyRepository } from './key.repository.js';
import { KeyWrapper, Sealer } from './sealer.js';
import { SecretDigest } from './secret-digest.js';

@Global()
@Module({
  providers: [CursorCodec, SecretDigest, Sealer, KeyRepository, KeyWrapper],
  exports: [CursorCodec, SecretDigest, Sealer],
})
export class CryptoModule implements OnModuleInit {
  constructor(private readonly sealer: Sealer) {}

  /** Runs before anything is encrypted or decrypted: a process with the wrong keys must not start. */
  async onModuleInit(): Promise<void> {
    await this.sealer.unlock();
  }
}
