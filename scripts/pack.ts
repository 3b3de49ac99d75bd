/** Makes the package that people install out of what is built: `npm run pack -- DIRECTORY`. Prints the path of the tarball. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The plain name is taken. */
const NAME = '@sandpit-sim/sandpit';
const INNER = ['core', 'protocol', 'server', 'client', 'cli', 'dashboard'];
/** Has in it what it is made of. */
const BUNDLED = 'dashboard';

const root = fileURLToPath(new URL('..', import.meta.url));
const [given = 'package'] = process.argv.slice(2);
const into = resolve(given, 'contents');
interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description?: string;
  readonly license?: string;
  readonly engines?: object;
  readonly dependencies?: Readonly<Record<string, string>>;
}

const manifestOf = (path: string): Manifest =>
  JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8')) as Manifest;

rmSync(into, { recursive: true, force: true });
mkdirSync(join(into, 'bin'), { recursive: true });
const { version, description, license, engines } = manifestOf('.');
// Later ones of it, which fastify would take too, want a newer Node than the oldest that this runs on.
const dependencies: Record<string, string> = { 'light-my-request': '6.6.0' };
for (const name of INNER) {
  const source = `packages/${name}`;
  const inner = manifestOf(source);
  const { dependencies: needed, ...alone } = inner;
  Object.assign(dependencies, name !== BUNDLED && needed, { [inner.name]: inner.version });
  const target = join(into, 'node_modules', inner.name);
  cpSync(join(root, source, 'dist'), join(target, 'dist'), {
    recursive: true,
    filter: (path) => !/\.(tsbuildinfo|map)$/.test(path),
  });
  const shown = name === BUNDLED ? alone : inner;
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(shown, null, 2)}\n`);
}
cpSync(join(root, 'packages/python/sandpit.py'), join(into, 'python/sandpit.py'));
cpSync(join(root, 'docs/rules'), join(into, 'node_modules/@sandpit/server/rules'), { recursive: true });
for (const file of ['README.md', 'LICENSE', 'NOTICE', 'CHANGELOG.md'])
  cpSync(join(root, file), join(into, file));

const reExport = (from: string): string => `export * from '${from}';\n`;
for (const [file, from] of [
  ['index', '@sandpit/client'],
  ['testing', '@sandpit/client/testing'],
] as const)
  for (const ending of ['js', 'd.ts']) writeFileSync(join(into, `${file}.${ending}`), reExport(from));
writeFileSync(
  join(into, 'bin/sandpit.js'),
  "#!/usr/bin/env node\nimport '../node_modules/@sandpit/cli/dist/main.js';\n",
  { mode: 0o755 },
);
const exported = (file: string) => ({ types: `./${file}.d.ts`, default: `./${file}.js` });
const manifest = {
  name: NAME,
  version,
  description,
  license,
  type: 'module',
  engines,
  bin: { sandpit: 'bin/sandpit.js' },
  exports: { '.': exported('index'), './testing': exported('testing'), './package.json': './package.json' },
  dependencies,
  // What is ours travels inside: nothing of it has to be published by itself.
  bundleDependencies: INNER.map((name) => `@sandpit/${name}`),
};
writeFileSync(join(into, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);

const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
const packed = execFileSync(npm, ['pack', '--json', '--pack-destination', resolve(given)], {
  cwd: into,
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'ignore'],
});
const [{ filename }] = JSON.parse(packed) as readonly [{ readonly filename: string }];
process.stdout.write(`${join(resolve(given), filename.replace('@', '').replace('/', '-'))}
`);
