/** The libraries that travel inside the package, and the terms of each. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  /** As old manifests say it. */
  readonly licenses?: readonly { readonly type: string }[];
  readonly dependencies?: Readonly<Record<string, string>>;
}

const manifestIn = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;

/** Built into a library by those who publish it, without its own folder. */
const WITHIN_OTHERS = `swagger-ui, in @fastify/swagger-ui/static
Apache-2.0 (see LICENSE)

Copyright 2020-2021 SmartBear Software Inc.
`;

/** The folder of the library that a file is of; undefined when it is of none. */
function folderOf(path: string): string | undefined {
  const [, folder] = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path) ?? [];
  return folder?.includes('/@sandpit/') === true ? undefined : folder;
}

/** Libraries built into a part, which only its manifest names. */
function* needsOf(root: string, folder: string): Generator<string> {
  for (const name of Object.keys(manifestIn(join(root, folder)).dependencies ?? {})) {
    if (name.startsWith('@sandpit/')) continue;
    const found = `node_modules/${name}`;
    yield found;
    yield* needsOf(root, found);
  }
}

/** Libraries that the documentation site runs in a browser: the theme's own imports, not the libraries of its build. */
const SITE = ['vitepress', 'vue', '@vueuse/core', 'mark.js', 'minisearch', 'focus-trap', 'tabbable'];

/** Name, version and license of the library in a folder. */
export function describeLibrary(root: string, folder: string) {
  const { name, version, licenses, license = licenses?.[0]?.type } = manifestIn(join(root, folder));
  if (license === undefined) throw new Error(`${folder} does not say under which license it is`);
  return { name, version, license };
}

function termsOf(root: string, folder: string): string {
  const { name, version, license } = describeLibrary(root, folder);
  const texts = readdirSync(join(root, folder))
    .filter((file) => /^(?:licen[cs]e|notice|copying)(?:[.-].*)?$/i.test(file))
    .map((file) => readFileSync(join(root, folder, file), 'utf8').trim());
  return [`${name} ${version}`, license, '', ...texts].join('\n');
}

/** Folders of the libraries that these files are of, and of those in the dashboard and the documentation site. */
export function shippedLibraries(root: string, files: readonly string[]): readonly string[] {
  const folders = new Set([
    ...files.map(folderOf).filter((folder) => folder !== undefined),
    ...needsOf(root, 'packages/dashboard'),
    ...SITE.map((name) => `node_modules/${name}`),
  ]);
  return [...folders].filter((folder) => existsSync(join(root, folder, 'package.json')));
}

/** One text with the terms of all these libraries. */
export function thirdParties(root: string, folders: readonly string[]): string {
  const terms = folders.map((folder) => termsOf(root, folder));
  const line = `\n\n${'-'.repeat(80)}\n\n`;
  return [
    'The package of Sandpit has parts of these libraries in it, each under terms of its own.',
    ...[...new Set([...terms, WITHIN_OTHERS])].sort(),
  ].join(line);
}
