/**
 * OAuth as Schwab has it (D275). The app key is the id of a key pair, the app secret its secret. The authorization page hands out codes, which
 * are worth nothing without the secret; so it needs no login.
 */
import {
  type Credential,
  type Grants,
  type Head,
  type OpenCall,
  type OpenRoute,
  type Reply,
  words,
} from '@sandpit/dialect-port';
import { digestOf, uuidOf } from '@sandpit/dialect-port';
import { json } from './wire.js';

const ACCESS = 'access';
const REFRESH = 'refresh';
const ACCESS_MS = 30 * 60_000;
const REFRESH_MS = 7 * 86_400_000;
const CODE_MS = 5 * 60_000;
const LONGEST_URI = 2000;
const KEY_ID = /^PK[A-Z0-9]{1,40}$/;

interface App {
  readonly keyId: string;
  readonly secret: string;
}

/** An access token, a token of Sandpit, or `keyId.secret` of a key pair. */
export function bearerIn(token: string): Credential {
  const [, keyId, secret] = /^(PK[A-Z0-9]{1,40})\.([A-Za-z0-9]{1,80})$/.exec(token) ?? [];
  if (keyId !== undefined && secret !== undefined) return { kind: 'KEY_PAIR', keyId, secret };
  return /^PK[A-Z0-9]{1,40}\./.test(token)
    ? { kind: 'GRANT', grant: token, purpose: ACCESS }
    : { kind: 'TOKEN', token };
}

/** Clients check the lengths of Schwab's keys: zeros may follow an id up to 32 characters, and a secret up to 64. */
const keyIdIn = (text: string): string => (text.length === 32 ? text.replace(/0+$/, '') : text);
const secretIn = (text: string): string => (text.length === 64 ? text.replace(/0{24}$/, '') : text);

/** App key and secret of a request for tokens. */
function appIn({ headers }: Head): App | undefined {
  const given = /^Basic ([A-Za-z0-9+/=]{1,400})$/i.exec(String(headers['authorization'] ?? ''))?.[1] ?? '';
  const [, keyId = '', secret = ''] = /^([^:]+):(.+)$/.exec(Buffer.from(given, 'base64').toString()) ?? [];
  return KEY_ID.test(keyId) ? { keyId: keyIdIn(keyId), secret: secretIn(secret) } : undefined;
}

/** The pair that a request for a code or for tokens is about: in a cluster its node answers. */
export function credentialOfLogin(head: Head): Credential | undefined {
  if (!head.url.startsWith('/v1/oauth/')) return undefined;
  const app = appIn(head);
  if (app !== undefined) return { kind: 'KEY_PAIR', ...app };
  const keyId = keyIdIn(new URLSearchParams(head.url.split('?')[1] ?? '').get('client_id') ?? '');
  return KEY_ID.test(keyId) ? { kind: 'KEY_ID', keyId } : undefined;
}

/** Text fields of a query or a form; undefined if one is given twice, or is no text. */
function fieldsOf(given: unknown): ReadonlyMap<string, string> | undefined {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return undefined;
  const fields = Object.entries(given as Readonly<Record<string, unknown>>);
  return fields.every((field): field is [string, string] => typeof field[1] === 'string')
    ? new Map(fields)
    : undefined;
}

const AUTHORIZE_FIELDS: readonly string[] = words(
  'client_id redirect_uri response_type scope state code_challenge code_challenge_method',
);

interface Wish {
  readonly keyId: string;
  readonly redirect: URL;
  readonly redirectText: string;
  readonly state: string | undefined;
  readonly challenge: string | undefined;
}

/** Parses the request of a client; a text for a refused request, which must not be redirected. */
function wishOf({ query, grants }: OpenCall): Wish | string {
  const fields = fieldsOf(query);
  if (fields === undefined) return 'a field is given twice';
  const unknown = [...fields.keys()].find((name) => !AUTHORIZE_FIELDS.includes(name));
  if (unknown !== undefined) return 'a field is not supported';
  const keyId = keyIdIn(fields.get('client_id') ?? '');
  if (!KEY_ID.test(keyId) || !grants.isPair(keyId)) return 'client_id is not the id of a key pair';
  if ((fields.get('response_type') ?? 'code') !== 'code') return 'response_type must be code';
  const challenge = fields.get('code_challenge');
  if (challenge !== undefined && fields.get('code_challenge_method') !== 'S256')
    return 'code_challenge_method must be S256';
  const redirectText = fields.get('redirect_uri') ?? '';
  const redirect = redirectIn(redirectText);
  if (redirect === undefined) return 'redirect_uri must be an https URL, or an http URL of this machine';
  return { keyId, redirect, redirectText, state: fields.get('state'), challenge };
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

function redirectIn(text: string): URL | undefined {
  if (text.length > LONGEST_URI || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  const isAllowed = url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.test(url.hostname));
  const isPlain = url.username === '' && url.password === '' && url.hash === '';
  return isAllowed && isPlain ? url : undefined;
}

/** The page on a GET; the code at once under `sandpit run`, whose proxy marks requests. */
const showPage = (call: OpenCall): Promise<Reply> => {
  const wish = wishOf(call);
  if (typeof wish === 'string') return Promise.resolve(page(400, `<p>Refused: ${escaped(wish)}.</p>`));
  const isOfRun = call.head.headers['x-sandpit-run'] === '1';
  return Promise.resolve(isOfRun ? granted(call, wish) : askingPage(wish));
};

/** The click. One that another site sends gets the page. */
const grant = (call: OpenCall): Promise<Reply> => {
  const wish = wishOf(call);
  if (typeof wish === 'string') return Promise.resolve(page(400, `<p>Refused: ${escaped(wish)}.</p>`));
  return Promise.resolve(isFromPage(call.head) ? granted(call, wish) : askingPage(wish));
};

function isFromPage({ headers }: Head): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  const origin = headers['origin'];
  if (origin === undefined) return true;
  return URL.canParse(String(origin)) && new URL(String(origin)).host === headers['host'];
}

function granted({ grants }: OpenCall, { keyId, redirect, redirectText, state, challenge }: Wish): Reply {
  const about = JSON.stringify({ redirect: redirectText, challenge });
  const code = `C0.${grants.note(keyId, about, CODE_MS)}@`;
  const url = new URL(redirect);
  url.searchParams.append('code', code);
  url.searchParams.append('session', uuidOf(code));
  if (state !== undefined) url.searchParams.append('state', state);
  return { status: 302, text: '', headers: { location: url.href, 'cache-control': 'no-store' } };
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string): string => text.replace(/[&<>"]/g, (one) => ESCAPES[one] ?? '');

const askingPage = ({ keyId, redirect }: Wish): Reply =>
  page(
    200,
    `<p>This page is <strong>simulated</strong>: Sandpit answers in place of the broker, with simulated money only.</p>
<p>The app <code>${escaped(keyId)}</code> asks for access to the portfolio of its key. You return to
<code>${escaped(redirect.origin)}</code> with a code, which is good only together with the secret of the key.</p>
<form method="post"><button type="submit">Allow</button></form>`,
  );

const page = (status: number, content: string): Reply => ({
  status,
  text: `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Simulated authorization · Sandpit</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:34rem;margin:4rem auto;padding:0 1rem}button{font:inherit;padding:.5rem 1.5rem}</style>
</head><body><h1>Simulated authorization</h1>
${content}
</body></html>
`,
  headers: {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    'referrer-policy': 'same-origin',
    'x-frame-options': 'DENY',
  },
});

const TOKEN_FIELDS = ['grant_type', 'code', 'redirect_uri', 'refresh_token', 'code_verifier', 'scope'];
/** Fields that repeat the header. */
const APP_FIELDS: Readonly<Record<string, (app: App, value: string) => boolean>> = {
  client_id: ({ keyId }, value) => keyId === keyIdIn(value),
  client_secret: ({ secret }, value) => secret === secretIn(value),
};

const fail = (status: number, error: string, description: string): Reply =>
  json(status, { error, error_description: description }, { 'cache-control': 'no-store' });

const giveTokens = (call: OpenCall): Promise<Reply> => Promise.resolve(tokensFor(call));

function tokensFor({ head, body, grants }: OpenCall): Reply {
  const app = appIn(head);
  if (app === undefined || !grants.isSecretOf(app.keyId, app.secret))
    return fail(401, 'invalid_client', 'The app key or the app secret is wrong');
  const fields = fieldsOf(body ?? {});
  if (fields === undefined) return fail(400, 'invalid_request', 'A field is given twice');
  for (const [name, value] of fields) {
    const repeats = Object.hasOwn(APP_FIELDS, name) ? APP_FIELDS[name] : undefined;
    if (repeats === undefined ? !TOKEN_FIELDS.includes(name) : !repeats(app, value))
      return fail(400, 'invalid_request', 'A field is not supported, or contradicts the header');
  }
  switch (fields.get('grant_type')) {
    case 'authorization_code':
      return forCode(grants, app.keyId, fields);
    case 'refresh_token':
      return forRefresh(grants, app.keyId, fields.get('refresh_token') ?? '');
    default:
      return fail(400, 'unsupported_grant_type', 'grant_type must be authorization_code or refresh_token');
  }
}

function forCode(grants: Grants, keyId: string, fields: ReadonlyMap<string, string>): Reply {
  const [, id = ''] = /^C0\.([\w-]{32})(?:@|%40)$/.exec(fields.get('code') ?? '') ?? [];
  const note = grants.take(id);
  const { redirect, challenge } = JSON.parse(note?.about ?? '{}') as {
    readonly redirect?: string;
    readonly challenge?: string;
  };
  const isSame = note?.keyId === keyId && redirect === fields.get('redirect_uri');
  const verifier = fields.get('code_verifier');
  if (!isSame || (challenge !== undefined && challenge !== challengeOf(verifier ?? '')))
    return fail(400, 'invalid_grant', 'The code is wrong, used or expired, or is for another redirect_uri');
  return tokens(grants, keyId, grants.sign(keyId, REFRESH, REFRESH_MS)?.text);
}

const challengeOf = (verifier: string): string => digestOf(verifier, 'base64url');

/** The refresh token stays as it is, and lives seven days from the login. */
function forRefresh(grants: Grants, keyId: string, given: string): Reply {
  const known = grants.read(given, REFRESH);
  if (known?.keyId !== keyId)
    return fail(
      400,
      'unsupported_token_type',
      '400 Bad Request: "{"error_description":"Exception while authenticating refresh token","error":"refresh_token_authentication_error"}"',
    );
  return tokens(grants, keyId, given);
}

function tokens(grants: Grants, keyId: string, refresh: string | undefined): Reply {
  const access = grants.sign(keyId, ACCESS, ACCESS_MS);
  const identity = grants.sign(keyId, 'identity', ACCESS_MS);
  if (access === undefined || identity === undefined || refresh === undefined)
    return fail(401, 'invalid_client', 'The app key or the app secret is wrong');
  return json(
    200,
    {
      expires_in: ACCESS_MS / 1000,
      token_type: 'Bearer',
      scope: 'api',
      refresh_token: refresh,
      access_token: access.text,
      id_token: identity.text,
    },
    { 'cache-control': 'no-store' },
  );
}

export const oauthRoutes: readonly OpenRoute[] = [
  { method: 'GET', path: '/v1/oauth/authorize', handle: showPage },
  { method: 'POST', path: '/v1/oauth/authorize', handle: grant },
  { method: 'POST', path: '/v1/oauth/token', handle: giveTokens },
];
