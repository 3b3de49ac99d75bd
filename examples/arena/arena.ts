/**
 * Lets strategies compete on a recorded market at many times real speed, prints the leaderboard and writes a report of each entry.
 *
 *   npx tsx examples/arena/arena.ts                                  # two built-in strategies
 *   npx tsx examples/arena/arena.ts --agent "mine=node my-bot.js"    # and a program of yours
 *
 * It starts its own server; with --base-url and --token it uses one that runs. A program is started with SANDPIT_URL, SANDPIT_TOKEN,
 * SANDPIT_PORTFOLIO and SANDPIT_MCP (the address of the tools, with the same token), and is stopped at the end.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { sandbox } from '@sandpit/client/testing';
import { STRATEGIES } from './strategies.js';

export interface ArenaOptions {
  readonly baseUrl: string;
  /** With the scopes trade, read and simulate. */
  readonly token: string;
  readonly symbols: readonly string[];
  readonly start: string;
  readonly end: string;
  /** Simulated seconds per second. */
  readonly speed: number;
  /** Directory of the reports. */
  readonly reports: string;
  /** Programs to run in addition to the built-in strategies: name and command. */
  readonly agents?: readonly { readonly name: string; readonly command: string }[];
}

export interface Row {
  readonly rank: number;
  readonly displayName: string;
  readonly totalEquity: number;
  readonly return: number;
  readonly trades: number;
  readonly status: string;
}

interface Entry {
  readonly entryId: string;
  readonly portfolioId: string;
  readonly token: string;
}

/** A call of the API. */
export type Call = <T>(method: 'GET' | 'POST', path: string, body?: object) => Promise<T>;

const caller =
  (baseUrl: string, token: string): Call =>
  async <T>(method: string, path: string, body?: object): Promise<T> => {
    const response = await fetch(baseUrl + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return (path.endsWith('.html') ? text : JSON.parse(text)) as T;
  };

/** Runs a competition to its end. Resolves with the final leaderboard. */
export async function arena(options: ArenaOptions): Promise<readonly Row[]> {
  const { baseUrl, token, symbols, start, end, speed, reports, agents = [] } = options;
  const organizer = caller(baseUrl, token);
  const competition = await organizer<{ competitionId: string }>('POST', '/v1/competitions', {
    name: 'Arena',
    market: {
      feed: 'replay',
      clock: 'scaled',
      calendar: 'XNYS',
      speed,
      start,
      end,
      replay: symbols.join(','),
      mask: false,
    },
    rules: {
      initialCash: 100_000,
      portfolioType: 'CASH',
      brokerId: 'default',
      assetClasses: ['EQUITY'],
      entriesPerTenant: 1000,
    },
    scoring: 'TOTAL_RETURN',
    entry: 'OPEN',
    visibility: 'PRIVATE',
  });
  const path = `/v1/competitions/${competition.competitionId}`;
  const over = new AbortController();
  const enter = (displayName: string): Promise<Entry> =>
    organizer<Entry>('POST', `${path}/entries`, { displayName });
  const entries = new Map<string, Entry>();
  const running: Promise<unknown>[] = [];
  for (const [name, strategy] of Object.entries(STRATEGIES)) {
    const entry = await enter(name);
    entries.set(name, entry);
    running.push(strategy(caller(baseUrl, entry.token), entry.portfolioId, symbols, over.signal));
  }
  for (const { name, command } of agents) {
    const entry = await enter(name);
    entries.set(name, entry);
    const program = spawn(command, {
      shell: true,
      stdio: 'inherit',
      signal: over.signal,
      env: {
        ...process.env,
        SANDPIT_URL: baseUrl,
        SANDPIT_TOKEN: entry.token,
        SANDPIT_PORTFOLIO: entry.portfolioId,
        SANDPIT_MCP: `${baseUrl}/mcp`,
      },
    });
    running.push(new Promise((resolve) => program.once('close', resolve).once('error', resolve)));
  }
  await organizer('POST', `${path}/start`);
  for (;;) {
    const { status } = await organizer<{ status: string }>('GET', path);
    if (status === 'FINISHED') break;
    await later(100);
  }
  over.abort();
  await Promise.allSettled(running);
  const { rows } = await organizer<{ rows: readonly Row[] }>('GET', `${path}/leaderboard`);
  mkdirSync(reports, { recursive: true });
  writeFileSync(join(reports, 'leaderboard.json'), JSON.stringify(rows, null, 2));
  for (const [name, entry] of entries) {
    const report = `/v1/accounts/portfolios/${entry.portfolioId}/report.html`;
    const html = await caller(baseUrl, entry.token)<string>('GET', report);
    writeFileSync(join(reports, `${name.replace(/[^A-Za-z0-9-]+/g, '_')}.html`), html);
  }
  return rows;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      'base-url': { type: 'string' },
      token: { type: 'string' },
      symbols: { type: 'string', default: 'AAPL,MSFT,GE,ORCL' },
      start: { type: 'string', default: '2012-01-03T14:30:00Z' },
      end: { type: 'string', default: '2012-03-30T20:00:00Z' },
      speed: { type: 'string', default: '500000' },
      reports: { type: 'string', default: 'arena-report' },
      agent: { type: 'string', multiple: true, default: [] },
    },
  });
  const { 'base-url': baseUrl, token, symbols, start, end, reports } = values;
  const agents = values.agent.map((text) => {
    const [name = '', ...command] = text.split('=');
    return { name, command: command.join('=') };
  });
  const options = { symbols: symbols.split(','), start, end, speed: Number(values.speed), reports, agents };
  let rows: readonly Row[];
  if (baseUrl !== undefined && token !== undefined) rows = await arena({ ...options, baseUrl, token });
  else {
    await using server = await sandbox({ server: true });
    const { client, simulationId } = server;
    const issued = await client.call('createSimulationToken', { params: { simulationId } });
    rows = await arena({ ...options, baseUrl: client.transport.baseUrl, token: issued.token });
  }
  for (const row of rows)
    console.log(
      `${row.rank}. ${row.displayName.padEnd(20)} ${row.totalEquity.toFixed(2).padStart(12)} ${(row.return * 100).toFixed(2).padStart(8)} %  ${row.trades} trades`,
    );
  console.log(`reports: ${reports}`);
}

if (process.argv[1]?.endsWith('arena.ts') === true) await main();
