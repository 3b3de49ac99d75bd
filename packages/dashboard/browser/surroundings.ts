/** A real server, a real browser, and what a test does to both. */
import { createHmac } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { type Browser, chromium } from 'playwright-core';
import { ServerProcess } from '../../server/src/testing/server-process.js';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Where the system's browser is; undefined = there is none. */
export const chromiumPath = PLACES.find((path) => existsSync(path));

export const launchBrowser = (): Promise<Browser> =>
  chromium.launch({
    ...(chromiumPath !== undefined && { executablePath: chromiumPath }),
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });

const JWT_SECRET = 'a secret for tests, of more than 32 bytes';

/** A token for the tenant of the demo. */
export function tokenWith(scope: string): string {
  const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const exp = Math.floor(Date.now() / 1000) + 3600;
  const content = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode({ sub: 'demo', tier: 'ENTERPRISE', scope, exp })}`;
  return `${content}.${createHmac('sha256', JWT_SECRET).update(content).digest('base64url')}`;
}

export const ALL_SCOPES = 'trade read simulate admin';

/** Pushed quotes and a clock that moves when told, on a port that stays the same over a kill. */
export class Station {
  readonly #dataDir: string;
  readonly #port: number;
  #server: ServerProcess;

  private constructor(dataDir: string, port: number) {
    this.#dataDir = dataDir;
    this.#port = port;
    this.#server = this.#launch();
  }

  static async start(dataDir: string): Promise<Station> {
    const station = new Station(dataDir, await freePort());
    await station.#server.listening;
    return station;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** The link that the server printed. */
  get loginLink(): string {
    const link = this.#server.out
      .map((line) => /http\S+#\/login\/\S+/.exec(line)?.[0])
      .find((one) => one !== undefined);
    if (link === undefined) throw new Error('the server printed no link');
    return link;
  }

  async kill(): Promise<void> {
    await this.#server.end('SIGKILL');
  }

  async startAgain(): Promise<void> {
    this.#server = this.#launch();
    await this.#server.listening;
  }

  async stop(): Promise<void> {
    await this.#server.end('SIGTERM');
  }

  /** Throws with the answer where it is none of success. */
  async api<Answer>(method: string, path: string, body?: object): Promise<Answer> {
    const response = await fetch(`${this.url}/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${tokenWith(ALL_SCOPES)}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${text}`);
    return JSON.parse(text) as Answer;
  }

  async quote(symbol: string, bid: number, ask: number): Promise<void> {
    await this.api('PUT', '/simulation/quotes', { quotes: [{ symbol, bid, ask }] });
  }

  #launch(): ServerProcess {
    return ServerProcess.launch({
      DATA_DIR: this.#dataDir,
      PORT: String(this.#port),
      JWT_SECRET,
      MARKET_FEED: 'push',
      MARKET_CLOCK: 'manual',
      MARKET_CALENDAR: 'XNYS',
      CLOCK_START: '2026-01-05T10:00:00-05:00',
      RATE_LIMIT_DEFAULT: '1000000',
    });
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
