import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Returns the text of a file of the repository, which the image of the service also contains. */
export function readProjectFile(file: string): string {
  return readFileSync(join(projectFolder(), file), 'utf8');
}

/** The version of the service. */
export const { version: VERSION } = JSON.parse(readProjectFile('package.json')) as {
  readonly version: string;
};

/** Returns the root of the project: the sources and the compiled files are in different depths. */
export function projectFolder(folder = import.meta.dirname): string {
  return existsSync(join(folder, 'package.json')) ? folder : projectFolder(dirname(folder));
}
