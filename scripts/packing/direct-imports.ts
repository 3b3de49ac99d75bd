/**
 * Imports of the inner packages without their indexes. esbuild loads into a chunk all modules that its files reach, and an index reaches a
 * whole package: without this, a thread that needs four functions of the core loads and runs all of it.
 */
import { readFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';

const INNER = ['analytics', 'core', 'protocol'];

/** The module that declares an exported name, and the name there. */
interface Declared {
  readonly file: string;
  readonly name: string;
}

/** The names in a list of an import or export, each as `[name, alias]`. */
const namesIn = (list: string): readonly (readonly [string, string])[] =>
  list
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
    .map((one) => {
      const [name = '', alias = name] = one.split(' as ');
      return [name, alias];
    });

/** The exports of a compiled module, by name. */
function exportsOf(file: string): Map<string, Declared> {
  const code = readFileSync(file, 'utf8');
  const found = new Map<string, Declared>();
  for (const [, name = ''] of code.matchAll(/^export (?:async )?(?:const|let|class|function\*?) ([\w$]+)/gm))
    found.set(name, { file, name });
  for (const [, list, star, from = ''] of code.matchAll(
    /^export (?:\{([^}]*)\}|(\*)) from '(\.[^']+)';$/gm,
  )) {
    const exported = exportsOf(join(dirname(file), from));
    const names =
      star === undefined ? namesIn(list ?? '') : [...exported.keys()].map((key) => [key, key] as const);
    for (const [name, alias] of names) {
      const declared = exported.get(name);
      if (declared !== undefined) found.set(alias, declared);
    }
  }
  return found;
}

/** Replaces the imports of inner packages in a compiled module by imports of the modules that declare the names. */
export function directImports(root: string): (code: string) => string {
  const packages = new Map(
    INNER.map((name) => [name, exportsOf(join(root, 'packages', name, 'dist/index.js'))]),
  );
  const importing = new RegExp(`^import \\{([^}]*)\\} from '@sandpit/(${INNER.join('|')})';$`, 'gm');
  return (code) =>
    code.replace(importing, (_all, list: string, inner: string) =>
      namesIn(list)
        .map(([name, alias]) => {
          const declared = packages.get(inner)?.get(name);
          if (declared === undefined) throw new Error(`@sandpit/${inner} does not export ${name}`);
          const from = JSON.stringify(declared.file.split(sep).join('/'));
          return `import { ${declared.name} as ${alias} } from ${from};`;
        })
        .join(' '),
    );
}
