import { Global, Module } from '@nestjs/common';
import { MessageFiles } from './message-files.js';

@Global()
@Module({ providers: [MessageFiles], exports: [MessageFiles] })
export class MessageFilesModule {}
