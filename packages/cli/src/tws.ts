/** `sandpit tws`: a port with the protocol of TWS for a portfolio. */
import type { Command } from 'commander';
import { numberOf } from './numbers.js';
import { type Client, portfolioOf } from './portfolios.js';

/** The port of TWS for paper accounts. */
const PAPER_PORT = 7497;

export function addTws(program: Command, client: Client, complain: (text: string) => void): void {
  program
    .command('tws')
    .description(
      'Open a port with the socket protocol of TWS for a portfolio, until a signal. Clients of Interactive Brokers connect to it.',
    )
    .option('--portfolio <id>', 'portfolio (default: the newest)')
    .option('--port <number>', 'port on this machine', numberOf, PAPER_PORT)
    .action(async ({ portfolio, port }: { portfolio?: string; port: number }, self: Command) => {
      if (!Number.isInteger(port) || port < 1 || port > 65_535)
        return self.error('error: --port must be a whole number from 1 to 65535');
      const asked = await client();
      const { id: portfolioId } = await portfolioOf(asked, portfolio);
      const { TwsPorts } = await import('./tws-ports.js');
      const opened = await TwsPorts.open({
        url: asked.transport.baseUrl,
        token: () => asked.transport.token(),
        portfolioId,
        ports: [port],
        onRefused: (reason) => complain(`connection refused: ${reason}\n`),
      });
      complain(`tws listening on 127.0.0.1:${port} (portfolio ${portfolioId})\n`);
      await new Promise<void>((resolve) => {
        for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
      });
      opened.close();
    });
}
