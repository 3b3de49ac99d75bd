/** A real server, a real browser, and the actions of a test on both. */
import { createHmac, randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { freePort } from '../../server/src/testing/free-port.js';
import { credentialsIn, ServerProcess } from '../../server/src/testing/server-process.js';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Path of the system's browser; undefined = none. */
export const chromiumPath = PLACES.find((path) => existsSync(path));

/** Factor by which `BROWSER_CPU_SLOWDOWN` slows down the main thread of each page, to find what is lost on a slow machine. */
const SLOWDOWN = Number(process.env.BROWSER_CPU_SLOWDOWN ?? 1);

/** The address bar's suggestions, which Chromium renders in a process for each context, even without a screen. */
const INVISIBLE = ['WebUIOmniboxAimPopup', 'WebUIOmniboxFullPopup', 'WebUIOmniboxPopup'];

/** Features that Playwright disables. Its list has no effect next to the one of a test, because Chromium reads only the last one. */
const DISABLED_BY_PLAYWRIGHT = [
  'AimEnabled',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
];

const launchBrowser = (): Promise<Browser> =>
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
      `--disable-features=${[...INVISIBLE, ...DISABLED_BY_PLAYWRIGHT].join(',')}`,
    ],
  });

/** Timeout for asynchronous changes, on a machine under load. */
export const SOON = { timeout: 40_000 * SLOWDOWN };

const JWT_SECRET = 'a secret for tests, of more than 32 bytes';

/** A token for the tenant of the demo; one that ends in the past is over. */
export function tokenWith(scope: string, endsInSeconds = 3600): string {
  const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const exp = Math.floor(Date.now() / 1000) + endsInSeconds;
  const content = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode({ sub: 'demo', tier: 'ENTERPRISE', scope, exp })}`;
  return `${content}.${createHmac('sha256', JWT_SECRET).update(content).digest('base64url')}`;
}

export const ALL_SCOPES = 'trade read simulate admin operator';

/** Pushed quotes and a manual clock, on a port that stays the same across a kill. */
export class Station {
  readonly #dataDir: string;
  readonly #port: number;
  #server: ServerProcess;
  /** Loaded, and waiting for the other one to be killed, without effects so far. */
  #next: ServerProcess | undefined;

  readonly #own: Readonly<Record<string, string>>;

  private constructor(dataDir: string, port: number, own: Readonly<Record<string, string>>) {
    this.#dataDir = dataDir;
    this.#port = port;
    this.#own = own;
    this.#server = ServerProcess.launch(this.#settings());
  }

  /** `own`: settings that differ. */
  static async start(dataDir: string, own: Readonly<Record<string, string>> = {}): Promise<Station> {
    const station = new Station(dataDir, await freePort(), own);
    await station.#server.listening;
    return station;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** The link that the server stored with the demo tenant's credentials. */
  get loginLink(): string {
    return there(credentialsIn(this.#dataDir).loginLink);
  }

  async kill(): Promise<void> {
    await this.#server.end('SIGKILL');
  }

  prepareAnother(): void {
    this.#next = ServerProcess.prepare(this.#settings());
  }

  async startAgain(): Promise<void> {
    this.#server = there(this.#next);
    this.#next = undefined;
    this.#server.go();
    await this.#server.listening;
  }

  async stop(): Promise<void> {
    await Promise.all([this.#server.end('SIGTERM'), this.#next?.end('SIGKILL')]);
  }

  /** Throws with the answer when it is none of success. */
  async api<Answer>(
    method: string,
    path: string,
    body?: object,
    token = tokenWith(ALL_SCOPES),
  ): Promise<Answer> {
    const response = await fetch(`${this.url}/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${text}`);
    return JSON.parse(text) as Answer;
  }

  async quote(symbol: string, bid: number, ask: number): Promise<void> {
    await this.api('PUT', '/simulation/quotes', { quotes: [{ symbol, bid, ask }] });
  }

  #settings(): Readonly<Record<string, string>> {
    return {
      DATA_DIR: this.#dataDir,
      PORT: String(this.#port),
      JWT_SECRET,
      MARKET_FEED: 'push',
      MARKET_CLOCK: 'manual',
      MARKET_CALENDAR: 'XNYS',
      CLOCK_START: '2026-01-05T10:00:00-05:00',
      RATE_LIMIT_DEFAULT: '1000000',
      WEBHOOK_ALLOW_PRIVATE: 'on',
      ...this.#own,
    };
  }
}

/** A user's view of the dashboard: one server, one browser, one page that stays open. */
export class Visit {
  readonly #dataDir = mkdtempSync(join(tmpdir(), 'sandpit-dashboard-'));
  #station: Station | undefined;
  #browser: Browser | undefined;
  #page: Page | undefined;
  /** Contexts without a page. */
  readonly #idle: BrowserContext[] = [];
  /** Origin of each page. */
  readonly #origins = new WeakMap<Page, string>();
  /** Errors of pages, and what their policy forbade. */
  readonly problems: string[] = [];
  /** Requests to anybody but the server. */
  readonly elsewhere: string[] = [];

  async begin(): Promise<void> {
    [this.#station, this.#browser] = await Promise.all([Station.start(this.#dataDir), launchBrowser()]);
    this.#page = await this.stranger();
  }

  async end(): Promise<void> {
    await this.#browser?.close();
    await this.#station?.stop();
    rmSync(this.#dataDir, { recursive: true, force: true });
  }

  get station(): Station {
    return there(this.#station);
  }

  get page(): Page {
    return there(this.#page);
  }

  /** A page of a visitor without a token. */
  stranger(): Promise<Page> {
    return this.#open({});
  }

  /** A page with tokens by simulation and nothing else in its storage, in a context that no other page uses. */
  async #open(tokens: Readonly<Record<string, string>>, station = this.station): Promise<Page> {
    const context = this.#idle.pop() ?? (await there(this.#browser).newContext({ reducedMotion: 'reduce' }));
    const page = await context.newPage();
    if (SLOWDOWN > 1) {
      const devtools = await context.newCDPSession(page);
      await devtools.send('Emulation.setCPUThrottlingRate', { rate: SLOWDOWN });
    }
    // A reused context keeps its cache, but not its storage.
    await page.addInitScript(`if (sessionStorage.getItem('begun') === null) {
      localStorage.clear();
      localStorage.setItem('sandpit-tokens', ${JSON.stringify(JSON.stringify(tokens))});
      sessionStorage.setItem('begun', 'yes');
    }`);
    this.#origins.set(page, station.url);
    page.on('pageerror', ({ message }) => this.problems.push(message));
    page.on('console', (message) => {
      if (/Content Security Policy|TrustedHTML/.test(message.text())) this.problems.push(message.text());
    });
    page.on('request', (request) => {
      if (!/^(data|blob):/.test(request.url()) && new URL(request.url()).origin !== station.url)
        this.elsewhere.push(request.url());
    });
    return page;
  }

  /** A page that is not loaded yet, with a token for the main simulation of a station. */
  reader(scope: string, station = this.station): Promise<Page> {
    return this.#open({ main: tokenWith(scope) }, station);
  }

  /** Closes a page; its context is used again. */
  async leave(page: Page): Promise<void> {
    const context = page.context();
    await page.close();
    this.#idle.push(context);
  }

  async go(place: string, page = this.page): Promise<void> {
    await page.goto(`${this.#origins.get(page) ?? this.station.url}/#/${place}`);
  }

  /** Starts to measure the main thread of a page. The returned function reads the time used since, ms. */
  async mainThread(page = this.page): Promise<() => Promise<number>> {
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('Performance.enable');
    const worked = async (): Promise<number> => {
      const { metrics } = (await devtools.send('Performance.getMetrics')) as {
        readonly metrics: readonly { readonly name: string; readonly value: number }[];
      };
      return there(metrics.find(({ name }) => name === 'ThreadTime')).value * 1000;
    };
    const before = await worked();
    return async () => (await worked()) - before;
  }
}

function there<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('not begun');
  return value;
}

/** A separate simulation: pushed quotes, and a manual clock at ten o'clock on a Monday. */
export class OwnSimulation {
  readonly id: string;
  readonly #station: Station;
  readonly #token: string;

  private constructor(station: Station, id: string, token: string) {
    this.#station = station;
    this.id = id;
    this.#token = token;
  }

  static async make(station: Station, name: string): Promise<OwnSimulation> {
    const body = {
      name,
      feed: 'push',
      clock: 'manual',
      calendar: 'XNYS',
      start: '2026-01-05T10:00:00-05:00',
    };
    const made = await station.api<{ simulationId: string; token: string }>('POST', '/simulations', body);
    return new OwnSimulation(station, made.simulationId, made.token);
  }

  api<Answer>(method: string, path: string, body?: object): Promise<Answer> {
    return this.#station.api(method, path, body, this.#token);
  }

  async quotes(quotes: Readonly<Record<string, readonly [bid: number, ask: number]>>): Promise<void> {
    const list = Object.entries(quotes).map(([symbol, [bid, ask]]) => ({ symbol, bid, ask }));
    await this.api('PUT', '/simulation/quotes', { quotes: list });
  }

  async clock(to: string): Promise<void> {
    await this.api('POST', '/simulation/clock/advance', { to });
  }

  /** A MARGIN portfolio under Regulation T, its id. */
  async portfolio(name: string, initialCash: number): Promise<string> {
    const { portfolioId } = await this.api<{ portfolioId: string }>('POST', '/accounts/portfolios', {
      accountId: randomUUID(),
      portfolioType: 'MARGIN',
      marginType: 'REG_T',
      accountType: 'INDIVIDUAL',
      brokerId: 'default',
      name,
      initialCash,
    });
    return portfolioId;
  }

  /** Buys shares of AAPL at the market. */
  async buy(portfolioId: string, quantity: number): Promise<void> {
    await this.api('POST', '/orders', {
      portfolioId,
      symbol: 'AAPL',
      assetClass: 'EQUITY',
      orderType: 'MARKET',
      positionIntent: 'BUY_TO_OPEN',
      quantity,
      timeInForce: 'DAY',
    });
  }

  /** The path of a page of it. */
  place(place: string): string {
    return `~${this.id}/${place}`;
  }
}
