import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, deflateRawSync } from 'node:zlib';

/** The time of all files: the first that a zip archive can have. */
const DATE = (1 << 5) | 1;
const DEFLATED = 8;
const UTF8_NAMES = 1 << 11;

/**
 * Packs a Python package that consists of sources as a wheel, because machines that build this project may have no Python. A test
 * compares the wheel with that of `pip wheel`. The same files always make the same bytes.
 *
 * @param folder with pyproject.toml
 * @returns the name of the file, and its bytes
 */
export function wheelOf(folder) {
  const project = readFileSync(join(folder, 'pyproject.toml'), 'utf8');
  const value = (key) => new RegExp(`^${key} = "(.*)"$`, 'm').exec(project)[1];
  const list = (key) => [...new RegExp(`^${key} = \\[(.*)\\]$`, 'm').exec(project)[1].matchAll(/"(.*?)"/g)];
  const texts = (key) => list(key).map(([, text]) => text);
  const module = value('name').replaceAll('-', '_');
  const sources = join(folder, 'src', module);
  const [, version] = /VERSION = "(.*)"/.exec(readFileSync(join(sources, '_version.py'), 'utf8'));
  const extras = [
    ...(/\[project.optional-dependencies\]\n((?:\w.*\n)*)/.exec(project)?.[1] ?? '').matchAll(/^(\w+) =/gm),
  ];
  const info = `${module}-${version}.dist-info`;
  const metadata = [
    'Metadata-Version: 2.4',
    `Name: ${value('name')}`,
    `Version: ${version}`,
    `Summary: ${value('description')}`,
    ...texts('classifiers').map((each) => `Classifier: ${each}`),
    `Requires-Python: ${value('requires-python')}`,
    ...texts('dependencies').map((each) => `Requires-Dist: ${each}`),
    ...extras.flatMap(([, extra]) => [
      `Provides-Extra: ${extra}`,
      ...texts(extra).map((each) => `Requires-Dist: ${each}; extra == '${extra}'`),
    ]),
    'Description-Content-Type: text/markdown',
    '',
    readFileSync(join(folder, 'README.md'), 'utf8'),
  ];
  const files = [
    ...readdirSync(sources)
      .filter((name) => name.endsWith('.py') || name === 'py.typed')
      .toSorted()
      .map((name) => [`${module}/${name}`, readFileSync(join(sources, name))]),
    [`${info}/METADATA`, Buffer.from(metadata.join('\n'))],
    [
      `${info}/WHEEL`,
      Buffer.from(
        'Wheel-Version: 1.0\nGenerator: merchant-connectivity\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
      ),
    ],
  ];
  const record = files.map(([name, bytes]) => {
    const hash = createHash('sha256').update(bytes).digest('base64url');
    return `${name},sha256=${hash},${bytes.length}\n`;
  });
  const all = [...files, [`${info}/RECORD`, Buffer.from(`${record.join('')}${info}/RECORD,,\n`)]];
  return { name: `${module}-${version}-py3-none-any.whl`, bytes: zipOf(all) };
}

/** Returns a zip archive of the files, which are few and small. */
function zipOf(files) {
  const [contents, directory] = [[], []];
  let offset = 0;
  for (const [name, bytes] of files) {
    const path = Buffer.from(name);
    const packed = deflateRawSync(bytes, { level: 9 });
    // The fields that both headers have, from the version that is needed to extract the file.
    const fields = Buffer.alloc(26);
    [20, UTF8_NAMES, DEFLATED, 0, DATE].forEach((value, index) => fields.writeUInt16LE(value, index * 2));
    [crc32(bytes), packed.length, bytes.length].forEach((value, index) =>
      fields.writeUInt32LE(value, 10 + index * 4),
    );
    fields.writeUInt16LE(path.length, 22);
    const entry = Buffer.alloc(14);
    // A regular file that everybody may read.
    entry.writeUInt32LE((0o100644 << 16) >>> 0, 6);
    entry.writeUInt32LE(offset, 10);
    // 3: the attributes are those of Unix.
    directory.push(signature(0x02014b50), Buffer.from([20, 3]), fields, entry, path);
    const file = Buffer.concat([signature(0x04034b50), fields, path, packed]);
    contents.push(file);
    offset += file.length;
  }
  const entries = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(files.length, 4);
  end.writeUInt16LE(files.length, 6);
  end.writeUInt32LE(entries.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...contents, entries, signature(0x06054b50), end]);
}

function signature(value) {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
