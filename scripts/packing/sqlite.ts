/** The binary of SQLite: a package for each platform, of which npm installs the one that fits. */
import { cpSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const LIBRARY = 'node_modules/@photostructure/sqlite';
const PREBUILDS = '@photostructure/sqlite/prebuilds';
const FINDS_BINARY = /\bnode-gyp-build\/index\.js$/;

/** A binary that the library ships. */
export interface Platform {
  readonly os: string;
  readonly cpu: string;
  /** C library, on Linux. */
  readonly libc?: 'glibc' | 'musl';
  /** Path in the checkout. */
  readonly binary: string;
}

/** All platforms that the library has been built for. */
export function platforms(root: string): readonly Platform[] {
  const folder = join(root, LIBRARY, 'prebuilds');
  return readdirSync(folder).flatMap((platform) => {
    const [os = '', cpu = ''] = platform.split('-');
    return readdirSync(join(folder, platform)).map((file): Platform => {
      const binary = join(LIBRARY, 'prebuilds', platform, file);
      return os === 'linux'
        ? { os, cpu, binary, libc: file.includes('musl') ? 'musl' : 'glibc' }
        : { os, cpu, binary };
    });
  });
}

/** Name of the package with the binary of a platform. */
export const binaryPackage = (name: string, { os, cpu, libc }: Platform): string =>
  `${name}-${os}-${cpu}${libc === 'musl' ? '-musl' : ''}`;

/** Writes the package of a platform into a folder. */
export function writeBinaryPackage(
  root: string,
  into: string,
  { name, ...shared }: { readonly name: string; readonly version: string; readonly repository?: object },
  platform: Platform,
): void {
  const { os, cpu, libc, binary } = platform;
  mkdirSync(into, { recursive: true });
  cpSync(join(root, binary), join(into, 'sqlite.node'));
  cpSync(join(root, LIBRARY, 'LICENSE'), join(into, 'LICENSE'));
  const system = [os, cpu, ...(libc === undefined ? [] : [libc])].join(', ');
  writeFileSync(
    join(into, 'README.md'),
    `# ${binaryPackage(name, platform)}\n\nSQLite for \`${name}\` on ${system}: the binary of \`@photostructure/sqlite\`, unchanged.\n`,
  );
  const manifest = {
    name: binaryPackage(name, platform),
    ...shared,
    description: `SQLite for ${name} on ${system}`,
    license: 'MIT',
    main: 'sqlite.node',
    os: [os],
    cpu: [cpu],
    ...(libc !== undefined && { libc: [libc] }),
  };
  writeFileSync(join(into, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** Replaces the library's search for its binary by an import of the package of the platform. */
export function importBinary(name: string, version: string): (path: string, code: string) => string {
  const found = `const { platform, arch } = process;
const name = ${JSON.stringify(name)} + '-' + platform + '-' + arch;
module.exports = () => {
  const failures = [];
  for (const one of platform === 'linux' ? [name, name + '-musl'] : [name])
    try {
      return require(one);
    } catch (error) {
      failures.push(error);
    }
  throw new AggregateError(
    failures,
    'The package with SQLite for ' + platform + '-' + arch + ' is missing or does not load. npm installs it as an optional dependency; to install it: npm install ' + name + '@${version}',
  );
};
`;
  return (path, code) => (FINDS_BINARY.test(path) ? found : code);
}

/**
 * Links the library's binaries into a folder of joined programs. Threads of the tests share a process with the sources, and two copies of
 * SQLite in one process would break each other's file locks.
 */
export function linkSqlite(root: string, into: string): void {
  const place = join(into, 'libraries', PREBUILDS);
  rmSync(place, { recursive: true, force: true });
  mkdirSync(dirname(place), { recursive: true });
  symlinkSync(join(root, 'node_modules', PREBUILDS), place, 'junction');
}
