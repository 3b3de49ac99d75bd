/** `sandpit run` with real children: Python, Node, curl and Java as far as this machine has them. */
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Sandpit } from '@sandpit/client';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { COMMAND } from '../../../server/src/testing/joined-programs.js';
import { OwnServer } from './own-server.js';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
const has = (command: string, ...given: string[]): boolean =>
  spawnSync(command, given, { stdio: 'ignore' }).status === 0;
const hasPython = has('python3', '--version');
const NETWORK = ['--user', '--map-root-user', '--net', '--mount'];
const canIsolate = has(
  'unshare',
  ...NETWORK,
  'sh',
  '-c',
  'ip link set lo up && mount --bind /etc/hosts /etc/hosts',
);

/** The working directory of commands, and the parent of the directories of runs. */
let folder: string;
let server: OwnServer;
let client: Sandpit;
let named: readonly string[];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sandpit-runs-'));
  mkdirSync(join(folder, 'tmp'));
  server = await OwnServer.start({ MARKET_FEED: 'synthetic' });
  client = new Sandpit({ url: server.url, apiKey: server.apiKey });
  named = ['--url', server.url, '--token', String(await client.transport.token()), '--cash', '10000'];
}, 90_000);
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

interface Running {
  readonly process: ChildProcess;
  readonly ended: Promise<Ended>;
  /** Resolves once the output has a text. */
  readonly said: (text: string) => Promise<string>;
}

function start(options: readonly string[], command: readonly string[], env: NodeJS.ProcessEnv = {}): Running {
  const child = spawn(process.execPath, [COMMAND, 'run', ...options, '--', ...command], {
    cwd: folder,
    env: { ...process.env, TMPDIR: join(folder, 'tmp'), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, err] = ['', ''];
  const seen = new Set<() => void>();
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString();
    for (const look of seen) look();
  });
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, out, err }));
  const said = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (out.includes(text)) resolve(out);
      };
      seen.add(look);
      look();
      void ended.then((one) => reject(new Error(`ended without ${text}: ${JSON.stringify(one)}`)));
    });
  return { process: child, ended, said };
}

const runs = (options: readonly string[], command: readonly string[], env?: NodeJS.ProcessEnv) =>
  start(options, command, env).ended;

/** Writes a file for a command. Returns its path. */
function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const left = (): readonly string[] => readdirSync(join(folder, 'tmp'));

/** Reads the portfolio of a run. */
const CURL =
  'curl -s -H "Authorization: Bearer $SANDPIT_TOKEN" $SANDPIT_URL/v1/accounts/portfolios/$SANDPIT_PORTFOLIO';

const PYTHON_BOT = `
import json, os, urllib.request, urllib.error
keys = {'APCA-API-KEY-ID': os.environ['APCA_API_KEY_ID'], 'APCA-API-SECRET-KEY': os.environ['APCA_API_SECRET_KEY']}
def order(qty):
    body = json.dumps(dict(symbol='AAPL', qty=str(qty), side='buy', type='market', time_in_force='day')).encode()
    request = urllib.request.Request('https://paper-api.alpaca.markets/v2/orders', body, keys, method='POST')
    try:
        return json.load(urllib.request.urlopen(request))['status']
    except urllib.error.HTTPError as error:
        return json.load(error)['message']
print(order(1), '/', order(1000000))
for host in ['api.robinhood.com', 'example.com']:
    try:
        urllib.request.urlopen('https://' + host)
    except Exception as error:
        print(host, error)
`;

describe('sandpit run', { timeout: 120_000 }, () => {
  it.runIf(hasPython)('runs a Python bot against a server of its own, and sums up', async () => {
    const { code, out, err } = await runs(['--cash', '50000'], ['python3', file('bot.py', PYTHON_BOT)]);
    expect(err).toContain('sandpit run: 1 order, 1 fill, 1 refusal, profit ');
    expect(out).toContain('pending_new / insufficient buying power');
    expect(out).toMatch(/api\.robinhood\.com .*403/);
    expect(out).toMatch(/example\.com .*403/);
    expect(err).toContain("blocked: api.robinhood.com is a broker's host that Sandpit does not serve");
    expect(err).toMatch(/refused +1 {2}insufficient buying power/);
    expect(err).toMatch(/requests +2 {2}paper-api\.alpaca\.markets/);
    expect(err).toMatch(/blocked +1 {2}api\.robinhood\.com/);
    expect(code).toBe(0);
    expect(left()).toEqual([]);
  });

  it('serves fetch, https, a WebSocket and the client of Alpaca in Node', async () => {
    const required = createRequire(join(ROOT, 'package.json'));
    const bot = file(
      'bot.mjs',
      `
import https from 'node:https';
import { createRequire } from 'node:module';
const { resolve } = createRequire(${JSON.stringify(join(ROOT, 'package.json'))});
const WebSocket = (await import(${JSON.stringify(required.resolve('ws'))})).default;
const Alpaca3 = (await import(${JSON.stringify(required.resolve('alpaca-v3'))})).default;
const { Alpaca } = await import(${JSON.stringify(required.resolve('alpaca-v4'))});
const { APCA_API_KEY_ID: keyId, APCA_API_SECRET_KEY: secret } = process.env;
const headers = { 'APCA-API-KEY-ID': keyId, 'APCA-API-SECRET-KEY': secret };
console.log('fetch', (await fetch('https://paper-api.alpaca.markets/v2/clock', { headers })).status);
await new Promise((done) => https.get('https://DATA.alpaca.markets/v2/stocks/AAPL/quotes/latest', { headers }, (reply) => {
  console.log('https', reply.statusCode);
  reply.resume().on('end', done);
}));
const socket = new WebSocket('wss://paper-api.alpaca.markets/stream');
socket.on('open', () => socket.send(JSON.stringify({ action: 'auth', key: keyId, secret })));
console.log('ws', String(await new Promise((done) => socket.on('message', done))));
socket.close();
console.log('client 3', (await new Alpaca3({ paper: true }).getAccount()).cash);
const alpaca = new Alpaca({ keyId, secret, paper: true });
console.log('client 4', (await alpaca.trading.orders.market({ symbol: 'AAPL', qty: 1, side: 'buy' })).status);
for (const host of ['api.robinhood.com', 'example.com', '203.0.113.1'])
  await fetch('https://' + host).catch((error) => console.log(host, error.cause.message));
await new Promise((done) => https.get('https://trading.robinhood.com').on('error', (error) => done(console.log(error.message))));
process.exit(7);
`,
    );
    const { code, out, err } = await runs(named, [process.execPath, bot]);
    expect(out, err).toContain('fetch 200\nhttps 200\n');
    expect(out).toContain('"status":"authorized"');
    expect(out).toContain('client 3 10000\nclient 4 pending_new\n');
    expect(out).toContain(
      "api.robinhood.com api.robinhood.com is a broker's host that Sandpit does not serve",
    );
    expect(out).toContain('example.com sandpit run lets nothing out to example.com (--allow-network does)');
    expect(out).toContain('203.0.113.1 sandpit run lets nothing out to 203.0.113.1');
    expect(out).toContain("trading.robinhood.com is a broker's host that Sandpit does not serve");
    expect(err).toContain('sandpit run: 1 order, ');
    expect(err).toMatch(/dashboard +http/);
    expect(err).toMatch(/blocked +1 {2}203\.0\.113\.1/);
    expect(code).toBe(7);
  });

  it('a bot with the base URL of its broker set, and the same bot in a run: same orders, same fills', async () => {
    const { resolve } = createRequire(join(ROOT, 'package.json'));
    const bot = file(
      'same.mjs',
      `
const Alpaca = (await import(${JSON.stringify(resolve('alpaca-v3'))})).default;
const alpaca = new Alpaca({ paper: true });
const order = (more) => alpaca.createOrder({ symbol: 'AAPL', qty: 10, side: 'buy', type: 'market', time_in_force: 'day', ...more })
  .catch((error) => ({ refused: error.response.data }));
const price = (await alpaca.getLatestTrade('AAPL')).Price;
const at = (part) => (price * part).toFixed(2);
const said = [await order({ qty: 1_000_000 }), await order({ symbol: 'NOSUCH' })];
await order();
await order({ type: 'limit', limit_price: at(1.05), time_in_force: 'ioc' });
await order({ order_class: 'bracket', take_profit: { limit_price: at(1.2) }, stop_loss: { stop_price: at(0.8) }, qty: 5 });
await order({ symbol: 'MSFT', side: 'sell', qty: 3 });
await order({ symbol: 'KO', qty: undefined, notional: 500 });
const waits = await order({ type: 'limit', limit_price: at(0.5), time_in_force: 'gtc' });
await alpaca.replaceOrder(waits.id, { limit_price: at(0.6), qty: 4 });
await alpaca.cancelOrder((await order({ type: 'stop', stop_price: at(1.5), time_in_force: 'gtc' })).id);
await alpaca.closePosition('KO');
const orders = await alpaca.getOrders({ status: 'all', nested: true, limit: 100 });
const fills = await alpaca.getAccountActivities({ activityTypes: 'FILL' });
const { cash, equity, buying_power } = await alpaca.getAccount();
// Ids are those of the simulation.
const text = JSON.stringify([said, orders, fills, { cash, equity, buying_power }]);
console.log(text.replace(/"(?:id|client_order_id|order_id|asset_id|replaces|replaced_by)":"[^"]*",?/g, ''));
`,
    );
    const simulate = async (): Promise<Sandpit> => {
      const body = {
        feed: 'synthetic',
        clock: 'manual',
        start: '2026-01-05T10:00:00-05:00',
        seed: 7,
      } as const;
      const { token } = await client.call('createSimulation', { body });
      return new Sandpit({ url: server.url, token });
    };
    const [one, other] = [await simulate(), await simulate()];
    const inRun = await runs(
      ['--url', server.url, '--token', String(await one.transport.token()), '--cash', '50000'],
      [process.execPath, bot],
    );
    expect(inRun.err).toContain('sandpit run: 10 orders, 6 fills, 2 refusals, ');

    const { id: portfolioId } = await other.openPortfolio({ portfolioType: 'MARGIN', cash: 50_000 });
    const pair = await other.call('createKeyPair', { params: { portfolioId } });
    const { stdout } = await promisify(execFile)(process.execPath, [bot], {
      env: {
        ...process.env,
        APCA_API_KEY_ID: pair.keyId,
        APCA_API_SECRET_KEY: pair.secretKey,
        APCA_API_BASE_URL: `${server.url}/alpaca`,
        APCA_DATA_BASE_URL: `${server.url}/alpaca`,
      },
    });
    expect(stdout).toContain('"status":"filled"');
    expect(inRun.out).toBe(stdout);
  });

  it('runs the example bot of Interactive Brokers as it is: a bracket whose entry is filled', async () => {
    const tsx = createRequire(join(ROOT, 'package.json')).resolve('tsx');
    const bot = ['--import', tsx, join(ROOT, 'examples/bots/ibkr-bot.ts')];
    // The ports of TWS are fixed: another run on this machine may have them for a moment.
    const { out, err } = await vi.waitFor(
      async () => {
        // tsx leaves a cache in the temporary directory.
        const ended = await runs([...named, '--broker', 'ibkr'], [process.execPath, ...bot], {
          TMPDIR: tmpdir(),
        });
        expect(ended.err).not.toContain('is in use');
        return ended;
      },
      { timeout: 60_000, interval: 500 },
    );
    expect(out).toMatch(
      /^AAPL at \d+\.\d\d, average \d+\.\d\d: (?:long|short)\n(?:BOT|SLD) \d+ AAPL filled at [\d.]+\n$/,
    );
    expect(err).toContain('sandpit run: 3 orders, 1 fill, 0 refusals, profit ');
  });

  it('a port of TWS in use: exit code 70, with the number of the port', async () => {
    const other = createServer();
    // The last of the four.
    other.listen(4001, '127.0.0.1');
    // In use by another program is as good.
    await Promise.race([once(other, 'listening'), once(other, 'error')]).catch(() => undefined);
    const { code, err } = await runs([...named, '--broker', 'ibkr'], ['true']);
    other.close();
    expect(code).toBe(70);
    expect(err).toMatch(
      /^sandpit run: port \d+ is in use, perhaps by TWS, a Gateway or another run; end that program$/m,
    );
    expect(left()).toEqual([]);
  });

  it.runIf(has('curl', '--version'))('serves curl', async () => {
    const { out, code } = await runs(named, [
      'sh',
      '-c',
      'curl -s -H "APCA-API-KEY-ID: $APCA_API_KEY_ID" -H "APCA-API-SECRET-KEY: $APCA_API_SECRET_KEY" https://paper-api.alpaca.markets./v2/account; curl -s https://api.public.com',
    ]);
    expect(out).toContain('"cash":"10000"');
    // The proxy refuses the tunnel.
    expect(code).toBe(56);
  });

  it.runIf(has('java', '--version') && has('keytool', '-help'))('serves Java', async () => {
    const bot = file(
      'Bot.java',
      `import java.net.*; import java.net.http.*;
public class Bot { public static void main(String[] given) throws Exception {
  var request = HttpRequest.newBuilder(URI.create("https://paper-api.alpaca.markets/v2/clock"))
    .header("APCA-API-KEY-ID", System.getenv("APCA_API_KEY_ID"))
    .header("APCA-API-SECRET-KEY", System.getenv("APCA_API_SECRET_KEY")).build();
  System.out.println(HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()).statusCode());
} }`,
    );
    expect(await runs([...named, '--quiet'], ['java', bot])).toMatchObject({ code: 0, out: '200\n' });
  });

  it.runIf(canIsolate && hasPython)(
    '--isolate: reaches the served hosts and no address besides',
    async () => {
      const bot = file(
        'isolated.py',
        `${PYTHON_BOT}
import socket
for address in [('203.0.113.1', 443), ('8.8.8.8', 53)]:
    try:
        socket.create_connection(address, 3)
        print('out')
    except OSError as error:
        print(error.errno)
urllib.request.urlopen(os.environ['SANDPIT_URL'] + '/v1/health')
# A client that reads no proxy settings.
import ssl
host = 'paper-api.alpaca.markets'
with ssl.create_default_context().wrap_socket(socket.create_connection((host, 443), 3), server_hostname=host) as direct:
    direct.sendall(f'GET /v2/clock HTTP/1.1\\r\\nHost: {host}\\r\\nConnection: close\\r\\n\\r\\n'.encode())
    print(direct.recv(64).decode().split('\\r')[0])
exit(5)
`,
      );
      const { code, out, err } = await runs([...named, '--isolate'], ['python3', bot]);
      expect(out, err).toContain('pending_new / insufficient buying power');
      // ENETUNREACH
      expect(out).toContain('\n101\n101\nHTTP/1.1 401 Unauthorized\n');
      expect(code).toBe(5);
    },
  );

  it('gives credentials of Sandpit, and no credential of a broker', async () => {
    const { out, err } = await runs(named, ['env'], {
      APCA_API_KEY_ID: 'AKREALREALREALREAL12',
      APCA_API_BASE_URL: 'https://api.somewhere.example',
      ALPACA_SECRET_KEY: 'real-secret',
      TRADIER_ACCESS_TOKEN: 'real-token',
      tradier_token: 'real-token',
      SCHWAB_APP_KEY: 'real-key',
      ROBINHOOD_PASSWORD: 'real-password',
      ALL_PROXY: 'socks5://127.0.0.1:1',
      EDITOR: 'ed',
    });
    const given = new Map(out.split('\n').map((line) => [line.split('=')[0], line]));
    expect(given.get('APCA_API_KEY_ID')).toMatch(/=PK/);
    expect(given.get('ALPACA_SECRET_KEY')).toBe(
      given.get('APCA_API_SECRET_KEY')?.replace('APCA_API', 'ALPACA'),
    );
    expect(given.get('TRADIER_ACCESS_TOKEN')).toMatch(/=PK[A-Z0-9]+\.[A-Za-z0-9]+$/);
    expect(given.get('TRADIER_ACCOUNT_NUMBER')).toMatch(/=VA\d{8}$/);
    expect(given.get('tradier_token')).toMatch(/=PK[A-Z0-9]+\./);
    expect(given.get('SCHWAB_APP_KEY')).toMatch(/=0*PK/);
    expect(given.get('SANDPIT_URL')).toBe(`SANDPIT_URL=${server.url}`);
    expect(given.get('EDITOR')).toBe('EDITOR=ed');
    for (const name of ['APCA_API_BASE_URL', 'ROBINHOOD_PASSWORD']) {
      expect(given.has(name)).toBe(false);
      expect(err).toContain(name);
    }
    expect(given.has('ALL_PROXY')).toBe(false);
    expect(out + err).not.toMatch(/real-|AKREAL/);
  });

  it('warns of a key in a file by its name, without its value', async () => {
    file('.env', 'APCA_API_KEY_ID=AKREALREALREALREAL12\nLOG=debug\nTRADIER_ACCESS_TOKEN=${TOKEN}\n');
    file('settings.json', '{ "broker": { "alpacaSecretKey": "abcdefghijklmnop" } }');
    const { err } = await runs([...named, '--quiet'], ['true']);
    for (const name of ['.env', 'settings.json']) rmSync(join(folder, name));
    expect(err).toContain('warning: .env has APCA_API_KEY_ID; the command may use it');
    expect(err).toContain('warning: settings.json has alpacaSecretKey;');
    expect(err).not.toMatch(/AKREAL|abcdefgh|TRADIER/);
  });

  it('revokes its key pair at a server that goes on', async () => {
    const { data } = await client.call('listPortfolios', { query: { limit: 1 } });
    const portfolioId = String(data[0]?.portfolioId);
    const { out } = await runs(
      ['--url', server.url, '--token', String(named[3]), '--portfolio', portfolioId],
      ['sh', '-c', 'echo $SANDPIT_PORTFOLIO $APCA_API_KEY_ID'],
    );
    expect(out).toMatch(new RegExp(`^${portfolioId} PK`));
    expect(await client.call('listKeyPairs', { params: { portfolioId } })).toEqual([]);
  });

  it('begins with a fixture, with an import, and refuses both', async () => {
    const fixture = await runs(
      [...named.slice(0, 4), '--fixture', 'options-desk'],
      ['sh', '-c', `${CURL}/options`],
    );
    expect(fixture.out).toContain('"optionSymbol"');
    const csv = file('positions.csv', 'symbol,quantity,averageCost\nAAPL,10,100\nCASH,5000,\n');
    const imported = await runs([...named.slice(0, 4), '--import', csv], ['sh', '-c', CURL]);
    expect(imported.code, imported.err).toBe(0);
    expect(imported.out).toMatch(/"totalEquity":\d/);
    expect(imported.out).toContain('"settledCash":5000,');
    expect(await runs(['--fixture', 'retirement', '--import', csv], ['true'])).toMatchObject({ code: 2 });
  });

  it.each([
    ['127: a command that is not there', [], ['no-such-command'], 127],
    ['126: a file that is no program', [], ['./text'], 126],
    ['that of a signal', [], ['sh', '-c', 'kill -KILL $$'], 137],
    ['2: an unknown broker', ['--broker', 'nobody'], ['true'], 2],
    ['2: --portfolio without --url', ['--portfolio', 'x'], ['true'], 2],
    ['70: a file to import that is not there', ['--import', 'nowhere.csv'], ['true'], 70],
  ] as const)('exit code %s', async (_, options, command, code) => {
    file('text', 'text');
    const given = code === 2 ? options : [...named.slice(0, 4), ...options];
    expect(await runs(given, command)).toMatchObject({ code });
    expect(left()).toEqual([]);
  });

  it('exit code 70: no server at the address', async () => {
    const { code, err } = await runs(['--url', 'http://127.0.0.1:9', '--token', 'x'], ['true']);
    expect(code).toBe(70);
    expect(err).toMatch(/^sandpit run: /);
  });

  it('runs a command whose path has spaces, backslashes as on Windows, and letters of any script', async () => {
    const place = join(folder, 'Mein Bot ñ 株');
    const temporary = join(place, 'C:\\Users (1)\\tmp');
    mkdirSync(temporary, { recursive: true });
    const bot = join(place, 'böt.mjs');
    writeFileSync(bot, "console.log((await fetch('https://paper-api.alpaca.markets/v2/clock')).status)\n");
    const ended = await runs([...named, '--quiet'], [process.execPath, bot], { TMPDIR: temporary });
    expect(ended).toMatchObject({ code: 0, out: '401\n', err: '' });
  });

  it('passes a signal on and ends with the exit code of the command', async () => {
    const running = start(named, [
      'sh',
      '-c',
      "trap 'exit 9' TERM; echo ready; while :; do sleep 0.05; done",
    ]);
    await running.said('ready');
    running.process.kill('SIGTERM');
    expect(await running.ended).toMatchObject({ code: 9 });
    expect(left()).toEqual([]);
  });

  it('ends processes that the command leaves behind', async () => {
    const { out, code } = await runs(named, ['sh', '-c', 'sleep 600 > /dev/null & echo $!']);
    expect(code).toBe(0);
    expect(() => process.kill(Number(out), 0)).toThrow('ESRCH');
  });

  it('leaves nothing when it is killed: no command, no server, no file', async () => {
    // A request through the proxy is answered when the run knows the command's process.
    const bot = `await fetch('https://paper-api.alpaca.markets/v2/clock');
      console.log(process.pid, process.env.SANDPIT_URL);
      setInterval(() => undefined, 60_000);`;
    const running = start(['--quiet'], [process.execPath, '--input-type=module', '-e', bot]);
    const [id = '', url = ''] = (await running.said('http://')).trim().split(' ');
    expect(left()).not.toEqual([]);
    running.process.kill('SIGKILL');
    await running.ended;
    await vi.waitFor(() => {
      expect(() => process.kill(Number(id), 0)).toThrow('ESRCH');
      expect(left()).toEqual([]);
    }, 10_000);
    await expect(fetch(`${url}/v1/health`)).rejects.toThrow();
  });

  it('--keep: leaves the data of its server, and says where', async () => {
    const { err } = await runs(['--keep'], ['true']);
    const kept = /DATA_DIR=(\S+) sandpit up/.exec(err)?.[1] ?? '';
    expect(existsSync(join(kept, 'journal.db'))).toBe(true);
    rmSync(kept, { recursive: true });
  });

  it('files of the run: only this user can read them', async () => {
    const { out } = await runs(
      [...named, '--quiet'],
      ['sh', '-c', 'ls -l $(dirname $SSL_CERT_FILE); cat $SSL_CERT_FILE'],
    );
    for (const line of out.split('\n').filter((one) => /\.(?:pem|cjs)$/.test(one)))
      expect(line).toMatch(/^-rw------- /);
    expect(out.match(/BEGIN CERTIFICATE/g)).toHaveLength(1);
    expect(out).not.toContain('PRIVATE KEY');
  });
});
