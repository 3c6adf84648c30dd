/** Compiles and starts `ordinary-nestjs.ts`, whose decorators need it. */
import '../../test/support/runner/register-typescript.mjs';

await import('./ordinary-nestjs.ts');
