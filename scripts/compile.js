/** Compiles what changed since the last time, without checking types. */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * Strips the types from every source that is newer than its output. Types are checked by `npm run build` and `npm run check`, which take a
 * hundred times as long. Calls `onStart` before the first file, if there is one.
 */
export async function compileWhenChanged(onStart = () => undefined) {
  const options = { target: 'es2023', sourcemap: false, typescript: { onlyRemoveTypeImports: true } };
  const { references } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8'));
  let transform;
  for (const { path } of references) {
    const source = join(root, path, 'src');
    for (const entry of readdirSync(source, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !entry.name.endsWith('.ts') || entry.name.endsWith('.test.ts')) continue;
      const from = join(entry.parentPath, entry.name);
      const to = join(root, path, 'dist', relative(source, from)).replace(/\.ts$/, '.js');
      if ((statSync(to, { throwIfNoEntry: false })?.mtimeMs ?? 0) > statSync(from).mtimeMs) continue;
      if (transform === undefined) {
        onStart();
        transform = (await import('vite')).transformWithOxc;
      }
      mkdirSync(dirname(to), { recursive: true });
      const { code } = await transform(readFileSync(from, 'utf8'), relative(root, from), options);
      writeFileSync(to, code);
    }
  }
}
