import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Digests by directory, each with the sizes and times of the files that it was computed from. */
const KNOWN = new Map<string, { readonly files: string; readonly digest: string }>();

/** SHA-256, in hex, over the files of a recording: a line for each with its name and its SHA-256, by name. */
export async function recordingDigest(directory: string): Promise<string> {
  const names = (await readdir(directory, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(directory.length + 1))
    .sort();
  const stats = await Promise.all(names.map((name) => stat(join(directory, name))));
  const files = JSON.stringify(names.map((name, i) => [name, stats[i]?.size, stats[i]?.mtimeMs]));
  const known = KNOWN.get(directory);
  if (known?.files === files) return known.digest;
  const whole = createHash('sha256');
  for (const name of names)
    whole.update(`${name.replaceAll('\\', '/')} ${await fileDigest(join(directory, name))}\n`);
  const digest = whole.digest('hex');
  KNOWN.set(directory, { files, digest });
  return digest;
}

async function fileDigest(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array);
  return hash.digest('hex');
}
