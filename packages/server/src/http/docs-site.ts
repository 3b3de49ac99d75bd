/** The documentation site at `/docs/`: the files of its build. */
import { readdirSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ROUTE_NOT_FOUND } from './answer.js';
import { wantsPage } from './dashboard.js';
import { Brotli, failed, reply as sendAnswer, sendFile } from './reply.js';

/** Scripts come from this server alone. Highlighted code has colors in `style` attributes. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  // The dashboard shows pages of rules next to the content they explain.
  "frame-ancestors 'self'",
].join('; ');

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
};

interface SiteFile {
  readonly name: string;
  readonly content: Uint8Array | Brotli;
}

/**
 * The built site in a directory. A build that finishes while the server runs is served from then on. A file may be stored compressed, with
 * `.br` after its name.
 */
export class DocsSite {
  readonly #directory: string;
  /** Time of the build that `#stored` lists. */
  #builtAtMs: number | undefined;
  /** Stored names of the files, by the names under which they are served. */
  #stored: ReadonlyMap<string, string> = new Map();

  constructor(directory: string) {
    this.#directory = directory;
  }

  get isBuilt(): boolean {
    const builtAtMs = statSync(join(this.#directory, 'sources.sha256'), { throwIfNoEntry: false })?.mtimeMs;
    if (builtAtMs !== this.#builtAtMs) {
      this.#stored = new Map(builtAtMs === undefined ? [] : filesIn(this.#directory));
      this.#builtAtMs = builtAtMs;
    }
    return builtAtMs !== undefined;
  }

  /** The file at a path below `/docs/`: an asset, or the page that a path without extension names. Undefined when the build has none. */
  async read(path: string): Promise<SiteFile | undefined> {
    if (!this.isBuilt) return undefined;
    const name = [path, path === '' ? 'index.html' : `${path}.html`].find((one) => this.#stored.has(one));
    const stored = name === undefined ? undefined : this.#stored.get(name);
    if (name === undefined || stored === undefined) return undefined;
    const bytes = await readFile(join(this.#directory, stored));
    return { name, content: stored === name ? bytes : new Brotli(bytes) };
  }
}

const filesIn = (directory: string): (readonly [name: string, stored: string])[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .map((stored) => [stored.replace(/\.br$/, ''), stored] as const)
    .filter(([name]) => extname(name) in TYPES);

/** Serves the site at `/docs/`. Without one, `/docs` leads to the API reference. */
export function registerDocsSite(app: FastifyInstance, site: DocsSite): void {
  const redirect = (request: FastifyRequest, reply: FastifyReply): void =>
    sendFile(request, reply, 302, '', { location: site.isBuilt ? '/docs/' : '/docs/api/' });
  app.get('/docs', redirect);
  app.get<{ Params: { '*': string } }>('/docs/*', (request, reply) => {
    const path = request.params['*'];
    if (path === '' && !site.isBuilt) redirect(request, reply);
    else
      sendPage(site, path, request, reply).catch((error: unknown) => {
        failed(request, reply, error);
      });
  });
}

async function sendPage(
  site: DocsSite,
  path: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const found = await site.read(path);
  const file = found ?? (wantsPage(request) ? await site.read('404') : undefined);
  if (file === undefined) {
    sendAnswer(request, reply, ROUTE_NOT_FOUND);
    return;
  }
  const { name, content } = file;
  const type = TYPES[extname(name)] ?? 'application/octet-stream';
  sendFile(request, reply, found === undefined ? 404 : 200, content, {
    'content-type': type,
    ...(name.endsWith('.html') && {
      'content-security-policy': PAGE_POLICY,
      'x-frame-options': 'SAMEORIGIN',
    }),
    // The build names assets after their content.
    ...(name.startsWith('assets/') && { 'cache-control': 'public, max-age=31536000, immutable' }),
  });
}
