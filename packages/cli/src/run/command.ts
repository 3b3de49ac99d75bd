/** `sandpit run`: a command whose connections to its broker end at a Sandpit (D271). */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { rootCertificates } from 'node:tls';
import { type Portfolio, Sandpit } from '@sandpit/client';
import type { FixtureBody } from '@sandpit/protocol';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { numberOf } from '../numbers.js';
import { type Client, portfolioOf } from '../portfolios.js';
import { textOf } from '../refused.js';
import { KNOWN_BROKERS } from './broker-hosts.js';
import { browserText } from './browser.js';
import { environmentOf, type RunAccess } from './environment.js';
import { hostsText, isolated, Relays, requireIsolation } from './isolation.js';
import { isJavaCommand, javaStoreOf } from './java-store.js';
import { keysInFiles } from './keys-in-files.js';
import { loginsOf } from './logins.js';
import { preloadText } from './node-preload.js';
import { OwnServer } from './own-server.js';
import { RunProxy } from './proxy.js';
import { RunDirectory } from './run-directory.js';
import { RunFailure } from './run-failure.js';
import type { ServedBroker } from './served-brokers.js';
import { startFailure } from './start-failure.js';
import { figuresOf, rejectionsOf, summaryOf } from './summary.js';

/** Exit code of a run that failed for a reason of Sandpit, not of the command. */
const FAILED = 70;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** No portfolio opens without cash. */
const LEAST_CASH = 0.01;
/** Processes that the command left behind have this long to end. */
const LEFT_FOR_MS = 2000;

interface RunOptions {
  readonly broker?: string;
  readonly portfolio?: string;
  readonly cash?: number;
  readonly fixture?: FixtureBody['name'];
  readonly import?: string;
  readonly clock?: string;
  readonly start?: string;
  readonly replay?: string;
  readonly keep?: boolean;
  readonly allowNetwork?: boolean;
  readonly isolate?: boolean;
  readonly java?: boolean;
  readonly quiet?: boolean;
}

interface RunSurroundings {
  readonly client: Client;
  readonly complain: (text: string) => void;
  /** The server that the command line names. */
  readonly globals: () => { readonly url?: string; readonly token?: string };
  /** Receives the exit code of the command. */
  readonly exit: (code: number) => void;
}

export function addRun(program: Command, surroundings: RunSurroundings): void {
  program
    .command('run')
    .argument('<command...>', 'the command and its arguments, after --')
    .usage('[options] -- COMMAND…')
    .description(
      'Run a bot written for a broker against Sandpit: the hosts of the broker lead here, for this command alone.',
    )
    .option('--broker <names>', 'brokers to serve, separated by commas: alpaca, … (default: all installed)')
    .option('--portfolio <id>', 'portfolio of a server named by --url (default: the newest)')
    .option('--cash <dollars>', 'starting cash of a new portfolio', numberOf)
    .addOption(
      new Option('--fixture <name>', 'begin with a named book').choices([
        'every-status',
        'active-trader',
        'options-desk',
        'retirement',
      ]),
    )
    .option('--import <file>', 'begin with cash and positions from a file of a broker')
    .option('--clock <clock>', 'wall, manual, or scaled:SPEED (default: wall)', clockNamed)
    .option('--start <time>', 'time at which a manual or scaled clock begins')
    .option('--replay <directory>', 'play a recording instead of generated quotes')
    .option('--keep', 'keep the data of the server of the run')
    .option('--allow-network', 'let the command reach hosts that are not a broker’s')
    .option('--isolate', 'give the command a network without any other host (Linux)')
    .option('--java', 'prepare for Java, where another command starts it')
    .option('--quiet', 'print no summary')
    .action(async (command: string[], options: RunOptions, self: Command) => {
      const { url, token } = surroundings.globals();
      const problem =
        url === undefined && token !== undefined
          ? '--token is for a server named by --url'
          : usageProblem(options, url !== undefined);
      if (problem !== undefined) return self.error(`error: ${problem}`);
      const { servedBrokers } = await import('./served-brokers.js');
      const installed = await servedBrokers();
      const names = options.broker?.split(',').map((name) => name.trim());
      const unknown = names?.find((name) => installed.every((one) => one.name !== name));
      if (unknown !== undefined)
        return self.error(
          `error: ${unknown} is not served here; --broker takes ${installed.map(({ name }) => name).join(', ')}`,
        );
      const brokers = installed.filter(({ name }) => names?.includes(name) ?? true);
      surroundings.exit(await new Run(command, brokers, options, surroundings).toEnd());
    });
}

function clockNamed(text: string): string {
  if (!/^(?:wall|manual|scaled(?::\d+(?:\.\d+)?)?)$/.test(text))
    throw new InvalidArgumentError('It is wall, manual, scaled or scaled:SPEED.');
  return text;
}

function usageProblem(
  { portfolio, cash, fixture, import: file, clock = 'wall', start, replay, keep }: RunOptions,
  isElsewhere: boolean,
): string | undefined {
  const ofOwnServer = { '--clock': clock !== 'wall', '--start': start, '--replay': replay, '--keep': keep };
  const wrong = Object.entries(ofOwnServer).find(([, value]) => value !== undefined && value !== false);
  if (isElsewhere && wrong !== undefined) return `${wrong[0]} is for a server of the run, without --url`;
  if (!isElsewhere && portfolio !== undefined) return '--portfolio is for a server named by --url';
  const books = [portfolio, fixture, file].filter((one) => one !== undefined);
  if (books.length > 1) return 'only one of --portfolio, --fixture and --import can be given';
  if (portfolio !== undefined && cash !== undefined) return '--cash is for a new portfolio';
  if (fixture !== undefined && cash !== undefined) return 'a fixture has its own cash';
  if (clock === 'wall' && (start !== undefined || replay !== undefined))
    return '--start and --replay need a clock that is manual or scaled (--clock scaled:60)';
  if (replay !== undefined && start === undefined) return '--replay needs --start, a time in the recording';
  return undefined;
}

/** One run, from its preparation to its end. */
class Run {
  readonly #command: readonly string[];
  readonly #brokers: readonly ServedBroker[];
  readonly #options: RunOptions;
  readonly #surroundings: RunSurroundings;
  /** Opened resources, closed in reverse order. */
  readonly #opened: (() => unknown)[] = [];
  #signal: NodeJS.Signals | undefined;
  #child: ChildProcess | undefined;
  #hasServerEnded = false;

  constructor(
    command: readonly string[],
    brokers: readonly ServedBroker[],
    options: RunOptions,
    surroundings: RunSurroundings,
  ) {
    this.#command = command;
    this.#brokers = brokers;
    this.#options = options;
    this.#surroundings = surroundings;
  }

  async toEnd(): Promise<number> {
    const onSignal = (signal: NodeJS.Signals): void => this.#pass(signal);
    for (const signal of SIGNALS) process.on(signal, onSignal);
    try {
      return await this.#run();
    } catch (error) {
      if (this.#signal !== undefined) return 128 + constants.signals[this.#signal];
      const message = error instanceof RunFailure ? error.message : textOf(error as Error);
      this.#say(`sandpit run: ${message}`);
      return FAILED;
    } finally {
      for (const close of this.#opened.splice(0).reverse())
        // One that cannot be closed must not keep the others open.
        await Promise.resolve(close()).catch(() => undefined);
      for (const signal of SIGNALS) process.off(signal, onSignal);
    }
  }

  #say(line: string): void {
    this.#surroundings.complain(`${line}\n`);
  }

  /** Passes a signal on. One from the terminal has reached the command already. */
  #pass(signal: NodeJS.Signals): void {
    this.#signal = signal;
    if (this.#child === undefined) return;
    if (signal !== 'SIGINT' || !this.#sharesTerminal()) this.#child.kill(signal);
  }

  /** Ends the preparation after a signal. */
  #insist(): void {
    if (this.#signal !== undefined) throw new RunFailure('stopped');
  }

  #sharesTerminal(): boolean {
    return process.stdin.isTTY;
  }

  async #run(): Promise<number> {
    const { isolate = false, allowNetwork = false, quiet = false } = this.#options;
    if (isolate && allowNetwork) throw new RunFailure('--isolate and --allow-network exclude each other');
    if (isolate) requireIsolation();
    const brokers = this.#brokers;
    const directory = new RunDirectory();
    this.#opened.push(() => directory.remove());
    const server = await this.#server();
    this.#insist();
    const { fixture } = this.#options;
    const { client, portfolio } =
      fixture === undefined
        ? { client: server.client, portfolio: await this.#portfolio(server.client, server.isOwn) }
        : await this.#filled(server.client, fixture);
    const { url, isOwn } = server;
    const token = (await client.transport.token()) ?? '';
    const pair = await this.#keyPair(client, portfolio, isOwn);
    const logins = await loginsOf(url, pair, brokers);
    const access: RunAccess = { url, token, portfolioId: portfolio.id, ...pair, logins };
    const { certify } = await import('./authority.js');
    const certificate = certify(brokers.flatMap(({ hosts }) => hosts));
    const proxy = await RunProxy.open({
      brokers,
      certificate,
      target: new URL(url),
      allowNetwork,
      allowLoopback: !isolate,
      onRefused: (line) => this.#say(line),
    });
    this.#opened.push(() => proxy.close());
    const ports = await this.#openPorts(access);
    const ownCa = directory.write('ca.pem', certificate.ca);
    const trusted = allowNetwork ? [certificate.ca, ...publicAuthorities()].join('\n') : undefined;
    const caFile = trusted === undefined ? ownCa : directory.write('trusted.pem', trusted);
    const preloadFile = directory.write(
      'preload.cjs',
      preloadText({
        tlsPort: proxy.tlsPort,
        port: proxy.port,
        served: brokers.flatMap(({ hosts }) => hosts),
        brokers: KNOWN_BROKERS.flatMap(({ domains }) => domains),
        allowNetwork,
      }),
    );
    const browserFile = directory.write('browser.cjs', browserText(brokers.flatMap(({ hosts }) => hosts)));
    const [file = ''] = this.#command;
    const isJava = this.#options.java === true || isJavaCommand(file);
    const { environment, removed } = environmentOf(process.env, {
      brokers,
      access,
      proxyPort: proxy.port,
      caFile,
      preloadFile,
      browserFile,
      ...(isJava && { javaStore: javaStoreOf(directory.path, ownCa) }),
    });
    this.#warn(removed);
    const before = await figuresOf(client, portfolio.id);
    this.#insist();
    const code = await this.#execute(directory, environment, proxy.tlsPort, [
      proxy.port,
      portOf(url),
      ...ports,
    ]);
    if (this.#hasServerEnded) throw new RunFailure('its server has ended');
    if (quiet) return code;
    const after = await figuresOf(client, portfolio.id);
    const rejected = await rejectionsOf(client, portfolio.id, after.orders - before.orders);
    const refusals = new Map(proxy.refusals);
    for (const [reason, count] of rejected) refusals.set(reason, (refusals.get(reason) ?? 0) + count);
    const { requests, blocked } = proxy;
    this.#surroundings.complain(
      summaryOf({ before, after, refusals, requests, blocked, ...(!isOwn && { link: `${url}/` }) }),
    );
    return code;
  }

  /** Opens the ports of brokers that `--broker` names. Another program on one of them would get the orders of the command. */
  async #openPorts({ url, keyId, secretKey, portfolioId }: RunAccess): Promise<readonly number[]> {
    const ports = this.#options.broker === undefined ? [] : this.#brokers.flatMap((broker) => broker.ports);
    if (ports.length === 0) return [];
    const { TwsPorts } = await import('../tws-ports.js');
    const opened = await TwsPorts.open({
      url,
      token: () => Promise.resolve(`${keyId}.${secretKey}`),
      portfolioId,
      ports,
      onRefused: (reason) => this.#say(`sandpit run: connection refused: ${reason}`),
    });
    this.#opened.push(() => opened.close());
    return ports;
  }

  /** The server that was named, or one of the run. */
  async #server(): Promise<{
    readonly client: Sandpit;
    readonly url: string;
    readonly isOwn: boolean;
  }> {
    const { url: named } = this.#surroundings.globals();
    if (named !== undefined) {
      const client = await this.#surroundings.client();
      return { client, url: client.transport.baseUrl, isOwn: false };
    }
    const server = await OwnServer.start(this.#settings());
    this.#opened.push(() => server.close());
    server.onEnd(() => {
      this.#hasServerEnded = true;
      this.#child?.kill('SIGTERM');
    });
    const client = new Sandpit({ url: server.url, apiKey: server.apiKey });
    return { client, url: server.url, isOwn: true };
  }

  #settings(): Readonly<Record<string, string>> {
    const { clock = 'wall', start, replay, keep } = this.#options;
    const [mode = 'wall', speed] = clock.split(':');
    const kept = keep === true ? mkdtempSync(join(tmpdir(), 'sandpit-kept-')) : undefined;
    if (kept !== undefined)
      this.#opened.push(() => this.#say(`sandpit run: kept; DATA_DIR=${kept} sandpit up serves it again`));
    return {
      MARKET_FEED: replay === undefined ? 'synthetic' : 'replay',
      MARKET_CLOCK: mode,
      LOG_LEVEL: 'error',
      ...(speed !== undefined && { CLOCK_SPEED: speed }),
      ...(start !== undefined && { CLOCK_START: start }),
      ...(replay !== undefined && { REPLAY_PATH: resolve(replay) }),
      ...(kept !== undefined && { DATA_DIR: kept }),
    };
  }

  async #portfolio(client: Sandpit, isOwn: boolean): Promise<Portfolio> {
    const { portfolio, cash, import: file } = this.#options;
    if (!isOwn && cash === undefined && file === undefined) return portfolioOf(client, portfolio);
    // The file is read first: a portfolio for one that is not there would remain.
    const text = file === undefined ? undefined : readFileSync(file, 'utf8');
    const opened = await client.openPortfolio({
      portfolioType: 'MARGIN',
      ...(cash !== undefined && { cash }),
      ...(text !== undefined && cash === undefined && { cash: LEAST_CASH }),
    });
    if (text === undefined) return opened;
    await opened.import({ file: text });
    // The file has the whole cash.
    if (cash === undefined)
      await client.call('transferCash', {
        params: { portfolioId: opened.id },
        body: { amount: -LEAST_CASH },
      });
    return opened;
  }

  /** A simulation with a named book; its clock is manual. One at a server that goes on is deleted afterwards. */
  async #filled(
    owner: Sandpit,
    name: FixtureBody['name'],
  ): Promise<{ readonly client: Sandpit; readonly portfolio: Portfolio }> {
    const { simulationId, token } = await owner.call('createSimulation', {
      body: { feed: 'synthetic', clock: 'manual' },
    });
    this.#opened.push(() => owner.call('deleteSimulation', { params: { simulationId } }));
    const client = new Sandpit({ url: owner.transport.baseUrl, token });
    const { portfolios } = await client.call('fillFixture', { body: { name } });
    const [first] = portfolios;
    if (first === undefined) throw new RunFailure(`the fixture ${name} has no portfolio`);
    return { client, portfolio: client.portfolio(first.portfolioId) };
  }

  /** A key pair for the run; one at a server that goes on is revoked afterwards. */
  async #keyPair(
    client: Sandpit,
    { id: portfolioId }: Portfolio,
    isOwn: boolean,
  ): Promise<Pick<RunAccess, 'keyId' | 'secretKey'>> {
    const { keyId, secretKey } = await client.call('createKeyPair', { params: { portfolioId } });
    if (!isOwn) this.#opened.push(() => client.call('revokeKeyPair', { params: { portfolioId, keyId } }));
    return { keyId, secretKey };
  }

  /** Warns of credentials that the command does not get, or gets in spite of the run, by their names. */
  #warn(removed: readonly string[]): void {
    if (removed.length > 0) this.#say(`sandpit run: without ${removed.join(', ')}`);
    for (const { path, name } of keysInFiles(process.cwd(), this.#command))
      this.#say(`warning: ${path} has ${name}; the command may use it in place of the key of this run`);
  }

  /** Runs the command; resolves with its exit code. */
  async #execute(
    directory: RunDirectory,
    environment: Readonly<Record<string, string | undefined>>,
    tlsPort: number,
    ports: readonly number[],
  ): Promise<number> {
    let command = this.#command;
    let env = environment;
    if (this.#options.isolate === true) {
      const relays = new Relays(directory.path, [tlsPort, ...ports]);
      this.#opened.push(() => relays.close());
      await relays.listening();
      const hostsFile = directory.write('hosts', hostsText(this.#brokers.flatMap(({ hosts }) => hosts)));
      command = isolated(this.#command, relays.passages, { tlsPort, hostsFile });
      const { NODE_OPTIONS, ...rest } = environment;
      env = { ...rest, SANDPIT_NODE_OPTIONS: NODE_OPTIONS };
    }
    const [file = '', ...given] = command;
    const hasGroup = process.platform !== 'win32' && !this.#sharesTerminal();
    const child = spawn(file, given, { stdio: 'inherit', env, detached: hasGroup });
    this.#child = child;
    if (child.pid !== undefined) directory.endWith(hasGroup ? -child.pid : child.pid);
    const code = await exitCodeOf(child, file, (message) => this.#say(`sandpit run: ${message}`));
    if (hasGroup && child.pid !== undefined) await endGroup(child.pid);
    return code;
  }
}

const portOf = (url: string): number => Number(new URL(url).port || 80);

function exitCodeOf(child: ChildProcess, file: string, say: (message: string) => void): Promise<number> {
  return new Promise((resolve) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      const { message, exitCode } = startFailure(file, error);
      say(message);
      resolve(exitCode);
    });
    child.once('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal ?? 'SIGKILL']));
  });
}

/** Ends processes that the command left behind: they would have no server. */
async function endGroup(group: number): Promise<void> {
  const deadline = Date.now() + LEFT_FOR_MS;
  let signal: NodeJS.Signals = 'SIGTERM';
  for (;;) {
    try {
      process.kill(-group, signal);
    } catch {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
    signal = Date.now() > deadline ? 'SIGKILL' : 'SIGTERM';
  }
}

/** Certificates that the command trusts without this run: Node's list, or the file of the environment. */
function publicAuthorities(): readonly string[] {
  const file = process.env['SSL_CERT_FILE'] ?? process.env['REQUESTS_CA_BUNDLE'];
  const extra = process.env['NODE_EXTRA_CA_CERTS'];
  return [file, extra]
    .flatMap((path) => (path === undefined || path === '' ? [] : [readFileSync(path, 'utf8')]))
    .concat(rootCertificates);
}
