import { readFileSync } from 'node:fs';
import {
  AnswerError,
  connect,
  type Sandpit,
  SandpitError,
  UnauthorizedError,
  UnreachableError,
} from '@sandpit/client';
import { Command, CommanderError } from 'commander';
import { addAnalytics } from './analytics.js';
import { addCompetitions } from './competitions.js';
import { addCompletion } from './completion.js';
import { addEvaluations } from './evaluations/command.js';
import { addExport } from './export.js';
import { addHalts } from './halts.js';
import { addImport } from './import/command.js';
import { addMarket } from './market.js';
import { addOrders } from './orders.js';
import { addFaults } from './faults.js';
import { addOutcomes } from './outcomes.js';
import type { Output } from './output.js';
import { addPortfolios, type Client, portfolioOf } from './portfolios.js';
import { Refused, textOf } from './refused.js';
import { addServerCommands, runServerCommand } from './server-commands.js';
import { addRun } from './run/command.js';
import { addSimulations } from './simulations.js';
import { addTools } from './tools.js';
import { addTws } from './tws.js';
import { watch } from './watch.js';
import { addInvitations } from './invitations.js';
import { addWebhooks } from './webhooks.js';

/** Exit codes: 1 refused, 2 wrong usage, 3 no server or no valid credentials. */
export const EXIT = { done: 0, refused: 1, usage: 2, unreachable: 3 } as const;

interface ProgramOutput extends Output {
  readonly complain: (text: string) => void;
}

/** Runs one command line; resolves with its exit code. */
export async function run(args: readonly string[], surroundings: ProgramOutput): Promise<number> {
  const served = await runServerCommand(args, surroundings);
  if (served !== undefined) return served;
  let code: number = EXIT.done;
  const program = programOf(surroundings, (other) => (code = other));
  try {
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    const { syscall } = error as NodeJS.ErrnoException;
    if (!(error instanceof SandpitError) && syscall === undefined) throw error;
    const isJson = program.opts<Globals>().json === true;
    surroundings.complain(`${isJson ? jsonOf(error as Error) : textOf(error as Error)}\n`);
    // A file that cannot be read is refused as well, by the machine.
    const isRefused = error instanceof AnswerError || error instanceof Refused || syscall !== undefined;
    const isOutside = error instanceof UnreachableError || error instanceof UnauthorizedError;
    return isRefused && !isOutside ? EXIT.refused : EXIT.unreachable;
  }
}

/** The server's response unchanged, or the message. */
const jsonOf = (error: Error): string =>
  JSON.stringify(
    error instanceof AnswerError && error.body !== undefined ? error.body : { message: error.message },
  );

interface Globals {
  readonly url?: string;
  readonly token?: string;
  readonly json?: boolean;
}

/** Version of the checkout or of the installed package. */
const version = (): string => {
  const manifest = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { readonly version: string }).version;
};

/** The command line with all its commands. `exit` receives the exit code of a command that has one of its own. */
export function programOf(
  surroundings: ProgramOutput,
  exit: (code: number) => void = () => undefined,
): Command {
  const program = new Command('sandpit')
    .description('A simulated US brokerage. No order reaches a real market.')
    .version(version(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show this help')
    .helpCommand('help [command]', 'Show the help of a command.')
    .option('--url <url>', 'server (default: SANDPIT_URL, else the server of ./data)')
    .option(
      '--token <token>',
      'bearer token (default: SANDPIT_TOKEN or SANDPIT_API_KEY, else the demo key of ./data)',
    )
    .option('--json', 'print JSON; without it tables on a terminal and JSON into a pipe')
    .exitOverride()
    .configureOutput({ writeOut: surroundings.write, writeErr: surroundings.complain });
  const out: Output = {
    write: surroundings.write,
    get isTerminal() {
      return surroundings.isTerminal && program.opts<Globals>().json !== true;
    },
  };
  const client = (): Promise<Sandpit> => {
    const { url, token } = program.opts<Globals>();
    return connect({
      ...(url !== undefined && { url }),
      ...(token !== undefined && { token }),
      retryForMs: 5000,
    });
  };
  addServerCommands(program);
  addPortfolios(program, client, out);
  addOrders(program, client, out);
  addMarket(program, client, out);
  addSimulations(program, client, out);
  addCompetitions(program, client, out);
  addEvaluations(program, {
    client,
    out,
    complain: surroundings.complain,
    globals: () => program.opts<Globals>(),
    exit,
  });
  addHalts(program, client, out);
  addOutcomes(program, client, out);
  addFaults(program, client, out);
  addAnalytics(program, client, out);
  addInvitations(program, client, out);
  addWebhooks(program, client, out);
  addImport(program, { ...surroundings, ...out });
  addExport(
    program,
    async (id) => {
      const asked = await client();
      return { client: asked, id: (await portfolioOf(asked, id)).id };
    },
    out.write,
  );
  addRun(program, {
    client,
    complain: surroundings.complain,
    exit,
    globals: () => program.opts<Globals>(),
  });
  addTws(program, client, surroundings.complain);
  addWatch(program, client, out);
  addTools(program, client);
  addCompletion(program, out);
  for (const command of program.commands) inherit(program, command);
  return program;
}

function inherit(from: Command, to: Command): void {
  to.copyInheritedSettings(from);
  for (const command of to.commands) inherit(to, command);
}

function addWatch(program: Command, client: Client, out: Output): void {
  program
    .command('watch [symbols...]')
    .description('Follow a portfolio, its orders and quotes on the whole screen.')
    .option('--portfolio <id>', 'portfolio (default: the newest)')
    .action(async (symbols: string[], { portfolio }: { portfolio?: string }) => {
      const asked = await client();
      const { id } = await portfolioOf(asked, portfolio);
      const over = new AbortController();
      process.once('SIGINT', () => over.abort());
      await watch(
        asked,
        id,
        symbols.map((symbol) => symbol.toUpperCase()),
        out,
        over.signal,
      );
    });
}
