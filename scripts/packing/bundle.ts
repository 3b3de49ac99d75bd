/** Server and command line, joined with the libraries they use into a few files that load at once. */
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { directImports } from './direct-imports.js';

/** Folder of the libraries' files in the package: npm reserves the name `node_modules`. */
const LIBRARIES = 'libraries';
/** Read at run time. */
const PAGES_OF_LIBRARIES = '@fastify/swagger-ui/static';
/** The same program as `swagger-ui-bundle.js` without its libraries; no page loads it. */
const UNUSED_PAGES = /\bswagger-ui\.js$/;

/** Modules started by their URL, which keep their paths. The rest is bundled. */
const PROGRAMS = [
  'packages/cli/dist/main.js',
  'packages/server/dist/embedded.js',
  'packages/cli/dist/run/inside.js',
  'packages/cli/dist/run/sweeper.js',
  'packages/server/dist/main.js',
];
const IMPORTED_BY_THREADS = [
  'packages/server/dist/engine/recovery/checkpoint.js',
  'packages/server/dist/store/sqlite/history/past-source.js',
  'packages/server/dist/store/postgres/past-source.js',
];

const posix = (path: string): string => path.split(sep).join('/');

/** Path of a module in the package, given that in the checkout. */
const placeOf = (path: string): string => {
  const [ours, ...inLibrary] = posix(path).split('node_modules/');
  return inLibrary.length === 0 ? (ours ?? '') : `${LIBRARIES}/${inLibrary.at(-1) ?? ''}`;
};

/** Commands and threads of the server: modules that are a program of their own. */
function programsIn(root: string): readonly string[] {
  const dist = join(root, 'packages/server/dist');
  const isProgram = (path: string): boolean =>
    path.endsWith('-command.js') ||
    /import \{[^}]*\b(?:parentPort|workerData)\b[^}]*\} from 'node:worker_threads'/.test(
      readFileSync(join(dist, path), 'utf8'),
    );
  const found = readdirSync(dist, { recursive: true, encoding: 'utf8' })
    .map(posix)
    .filter((path) => path.endsWith('.js') && !path.startsWith('testing/') && isProgram(path))
    .map((path) => `packages/server/dist/${path}`);
  return [...PROGRAMS, ...IMPORTED_BY_THREADS, ...found];
}

/** Leaves packages of dialects out: importing one fails as if it were not installed. */
const leaveOut = (dialects: readonly string[]): Plugin => ({
  name: 'leave-out',
  setup: (build) => {
    build.onResolve({ filter: /^@sandpit\/dialect-/ }, ({ path }) =>
      dialects.some((name) => path === `@sandpit/dialect-${name}`) ? { path, external: true } : undefined,
    );
  },
});

/**
 * Compilers of schemas that the framework loads only when a server brings none; ours does (`http/app.ts`). With what they use they are a
 * sixth of the code that a start would compile.
 */
const NEVER_CALLED = /^@fastify\/(?:ajv-compiler|fast-json-stringify-compiler)$/;

/** Replaces modules that are never called: requiring one throws. */
const leaveOutUncalled: Plugin = {
  name: 'leave-out-uncalled',
  setup: (build) => {
    build.onResolve({ filter: NEVER_CALLED }, ({ path }) => ({ path, namespace: 'uncalled' }));
    build.onLoad({ filter: /.*/, namespace: 'uncalled' }, ({ path }) => ({
      contents: `throw new Error(${JSON.stringify(`${path} is not part of the package`)});`,
      loader: 'js',
    }));
  },
};

/** Changes the text of a module, given its path in the checkout. */
type Change = (path: string, code: string) => string;

/**
 * Modules find threads, pages and native libraries relative to themselves: each keeps its own original location, whatever file it has been
 * joined into.
 */
const keepPlaces = (root: string, change: Change): Plugin => ({
  name: 'keep-places',
  setup: (build) => {
    const direct = directImports(root);
    build.onLoad({ filter: /\.[cm]?js$/ }, ({ path }) => {
      const read = readFileSync(path, 'utf8');
      const code = direct(change(posix(relative(root, path)), read));
      if (!/\bimport\.meta\.(?:url|dirname)\b|\b__(?:dir|file)name\b/.test(code))
        return code === read ? undefined : { contents: code, loader: 'js' };
      const place = JSON.stringify(placeOf(relative(root, path)));
      const isModule = /^(?:import|export)\b/m.test(code);
      const told = isModule
        ? code
            .replaceAll('import.meta.url', `__urlOf(${place})`)
            .replaceAll('import.meta.dirname', `__directoryOf(${place})`)
        : `var __dirname = __directoryOf(${place}), __filename = __fileOf(${place});\n${code}`;
      return { contents: told, loader: 'js' };
    });
  },
});

/** The places in a file that came out, as seen from there. */
function resolvePlaces(code: string, from: string): string {
  const seen = (place: string): string => JSON.stringify(posix(relative(dirname(from), place)));
  return code.replace(/__(url|directory|file)Of\(\s*"([^"]+)"\s*\)/g, (_all, what: string, found: string) => {
    // The bundler may break a string in two lines.
    const place = found.replaceAll('\\\n', '');
    if (what === 'url') return `new URL(${seen(place)}, import.meta.url).href`;
    const path = what === 'file' ? place : dirname(place);
    return `process.getBuiltinModule("node:url").fileURLToPath(new URL(${seen(path)}, import.meta.url))`;
  });
}

interface BundleOptions {
  readonly change?: Change;
  /** Dialects to leave out. */
  readonly without?: readonly string[];
  /** Removes comments and spaces from the files. Names and, roughly, lines remain for stack traces. */
  readonly isCompact?: boolean;
}

/**
 * Writes the files into a folder laid out as the checkout is; resolves with the paths, in the checkout, of all that went into them. The
 * binary of SQLite is not among them.
 */
export async function bundle(
  root: string,
  into: string,
  { change = (_path, code) => code, without = [], isCompact = false }: BundleOptions = {},
): Promise<readonly string[]> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: [...programsIn(root)],
    outdir: into,
    outbase: '.',
    chunkNames: 'joined/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    plugins: [leaveOut(without), leaveOutUncalled, keepPlaces(root, change)],
    // CommonJS libraries require the modules of Node by name.
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module';\nconst require = __createRequire(import.meta.url);",
    },
    legalComments: 'none',
    minifyWhitespace: isCompact,
    ...(isCompact && { lineLimit: 160 }),
    metafile: true,
    write: false,
    logLevel: 'warning',
  });
  for (const { path, text } of outputFiles) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, resolvePlaces(text, relative(into, path)));
  }
  cpSync(join(root, 'node_modules', PAGES_OF_LIBRARIES), join(into, LIBRARIES, PAGES_OF_LIBRARIES), {
    recursive: true,
    filter: (path) => !UNUSED_PAGES.test(path),
  });
  return Object.keys(metafile.inputs);
}
