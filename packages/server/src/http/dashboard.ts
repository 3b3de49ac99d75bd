/** The dashboard: the files of its build, and the exchange of a login link for a token. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Answer, refuse, UNAUTHORIZED } from './answer.js';
import type { Access } from '../access/access.js';
import { InvitationRefused } from '../invitations/errors.js';
import type { Invitations } from '../invitations/invitations.js';
import type { Authenticator } from './auth.js';
import { addressOf, isLoopbackAddress } from './client-address.js';
import { cookieOf, tokenIn } from './dashboard-session.js';
import type { KnownBrowsers } from './known-browsers.js';
import type { LoginLinks } from './login-links.js';
import { Brotli, failed, reply as sendAnswer, sendFile } from './reply.js';
import type { WrongCodes } from './routes/invitations.js';

/** Allows only resources of this server, with no exceptions for scripts or styles. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  // Pages of the documentation, next to the content they explain.
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** The page and its files, read once. */
export class DashboardFiles {
  readonly #page: string;
  readonly #assets: ReadonlyMap<string, Uint8Array | Brotli>;

  private constructor(page: string, assets: ReadonlyMap<string, Uint8Array | Brotli>) {
    this.#page = page;
    this.#assets = assets;
  }

  /** Files that the build wrote to a directory, assets possibly compressed as `NAME.br`; undefined without a build. */
  static in(directory: string): DashboardFiles | undefined {
    const page = join(directory, 'index.html');
    if (!existsSync(page)) return undefined;
    const folder = join(directory, 'assets');
    const assets = readdirSync(folder)
      .filter((name) => extname(name.replace(/\.br$/, '')) in TYPES)
      .map((name): readonly [string, Uint8Array | Brotli] => {
        const bytes = readFileSync(join(folder, name));
        return name.endsWith('.br') ? [name.slice(0, -3), new Brotli(bytes)] : [name, bytes];
      });
    return new DashboardFiles(readFileSync(page, 'utf8'), new Map(assets));
  }

  /** The page itself; browsers revalidate it each time, so that they see a newer build. */
  sendPage(request: FastifyRequest, reply: FastifyReply): void {
    sendFile(request, reply, 200, this.#page, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': PAGE_POLICY,
      vary: 'Accept',
    });
  }

  /** File names contain a hash of the contents. */
  sendAsset(request: FastifyRequest, reply: FastifyReply, name: string): boolean {
    const text = this.#assets.get(name);
    if (text === undefined) return false;
    sendFile(request, reply, 200, text, {
      'content-type': TYPES[extname(name)] ?? 'text/plain; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
    });
    return true;
  }
}

/** True when the client is a browser, which accepts HTML. */
export const wantsPage = ({ headers }: FastifyRequest): boolean =>
  headers.accept?.includes('text/html') === true;

/** The files at `/assets/`, and where a login link is exchanged. */
export function registerDashboard(
  app: FastifyInstance,
  files: DashboardFiles,
  browsers: KnownBrowsers,
  { access, principalOf, loginLinks, invitations, wrongCodes }: DashboardDeps,
): void {
  app.get<{ Params: { name: string } }>('/assets/:name', (request, reply) => {
    if (!files.sendAsset(request, reply, request.params.name)) {
      sendAnswer(request, reply, refuse(404, 'File not found'));
    }
  });
  app.post('/dashboard/login', (request, reply) => {
    redeem(request, browsers, loginLinks).then(
      (answer) => sendAnswer(request, reply, answer),
      (error: unknown) => failed(request, reply, error),
    );
  });
  for (const path of ['/join/:code', '/return/:code'])
    // GET has no effect: the button of the page joins.
    app.get(path, (request, reply) => files.sendPage(request, reply));
  app.post('/dashboard/invitation', (request, reply) => {
    describe(request, { invitations, wrongCodes }).then(
      (answer) => sendAnswer(request, reply, answer),
      (error: unknown) => failed(request, reply, error),
    );
  });
  app.post('/dashboard/session', (request, reply) => {
    resume(request, principalOf).then(
      (answer) => sendAnswer(request, reply, answer),
      (error: unknown) => failed(request, reply, error),
    );
  });
  app.post('/dashboard/logout', (request, reply) => {
    logOut(request, { access, principalOf }).then(
      (answer) => sendAnswer(request, reply, answer),
      (error: unknown) => failed(request, reply, error),
    );
  });
}

export interface DashboardDeps {
  readonly access: Pick<Access, 'revokeToken'>;
  readonly principalOf: Authenticator['principalOf'];
  readonly loginLinks?: LoginLinks;
  readonly invitations: Pick<Invitations, 'find' | 'statusOf'>;
  readonly wrongCodes: WrongCodes;
}

/** Content of the page of an invitation. */
async function describe(
  request: FastifyRequest,
  { invitations, wrongCodes }: Pick<DashboardDeps, 'invitations' | 'wrongCodes'>,
): Promise<Answer> {
  const { code } = (request.body ?? {}) as { readonly code?: unknown };
  if (typeof code !== 'string') return refuse(400, ['code must be a string']);
  const note = await invitations.find(code).catch((error: unknown) => {
    if (error instanceof InvitationRefused) return undefined;
    throw error;
  });
  if (note === undefined) return wrongCodes.refuse(request);
  const { name, competitionId } = note;
  return Answer.json(200, {
    name,
    status: invitations.statusOf(note),
    isCompetition: competitionId !== undefined,
  });
}

/** The token of a browser that joined or returned by a link; an empty answer without one. */
async function resume(request: FastifyRequest, principalOf: DashboardDeps['principalOf']): Promise<Answer> {
  const token = tokenIn(request.headers.cookie);
  if (token === undefined) return Answer.json(200, {});
  const isValid = (await principalOf(`Bearer ${token}`)) !== undefined;
  return isValid
    ? Answer.json(200, { token })
    : Answer.json(200, {}, { 'set-cookie': cookieOf(request, '', 0) });
}

/** Revokes the token of the request, with all tokens that derive from it. A token without an id can only be forgotten. */
async function logOut(
  request: FastifyRequest,
  { access, principalOf }: Pick<DashboardDeps, 'access' | 'principalOf'>,
): Promise<Answer> {
  const principal = await principalOf(request.headers.authorization);
  if (principal === undefined) return UNAUTHORIZED;
  const { origin, expiresAtMs } = principal;
  if (origin.tokenId !== undefined) await access.revokeToken(origin.tokenId, expiresAtMs);
  return Answer.json(200, { message: 'Logged out' }, { 'set-cookie': cookieOf(request, '', 0) });
}

async function redeem(
  request: FastifyRequest,
  browsers: KnownBrowsers,
  links: LoginLinks | undefined,
): Promise<Answer> {
  const { body } = request;
  const { code } = (typeof body === 'object' && body !== null ? body : {}) as { readonly code?: unknown };
  if (typeof code !== 'string') return refuse(400, ['code must be a string']);
  // A link is only for a user of the machine that printed it.
  const token = isLoopbackAddress(addressOf(request)) ? await links?.redeem(code) : undefined;
  return token === undefined
    ? UNAUTHORIZED
    : Answer.json(200, { token }, { 'set-cookie': browsers.remember() });
}
