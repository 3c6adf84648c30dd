import { readProjectFile } from '../../../infrastructure/project-files/index.js';

/** The receivers of `examples/receivers` that need no framework, by their language in the address of a page. */
export const RECEIVERS = {
  typescript: { language: 'TypeScript', file: 'receiver.ts' },
  python: { language: 'Python', file: 'receiver.py' },
  go: { language: 'Go', file: 'receiver.go' },
  java: { language: 'Java', file: 'Receiver.java' },
  php: { language: 'PHP', file: 'receiver.php' },
  ruby: { language: 'Ruby', file: 'receiver.rb' },
} as const;

export type ReceiverName = keyof typeof RECEIVERS;

export function isReceiverName(name: unknown): name is ReceiverName {
  return typeof name === 'string' && Object.hasOwn(RECEIVERS, name);
}

/** The text in each file where the code for the test vectors begins, which a receiver does not need. */
const END = /^(?:interface Delivery| *public static void main|(?:def|func|function) main)\b/m;

/** Returns the functions of a receiver that verify deliveries: the beginning of its file, which the tests run. */
export function verificationCode(name: ReceiverName): string {
  const code = readProjectFile(`examples/receivers/${RECEIVERS[name].file}`);
  return code.slice(0, code.search(END)).trimEnd();
}
