import { AnswerError } from '@sandpit/client';
import type { Command } from 'commander';
import { numberOf } from './numbers.js';
import { type Output, printFields, printRows } from './output.js';
import type { Client } from './portfolios.js';
import { Refused } from './refused.js';

export function addMarket(program: Command, client: Client, out: Output): void {
  program
    .command('quote <symbols...>')
    .description('Show the latest quotes.')
    .option('-f, --follow', 'keep printing quotes as they change')
    .action(async (symbols: string[], { follow }: { follow?: boolean }) => {
      const asked = await client();
      const columns = ['symbol', 'bid', 'ask', 'last'];
      if (follow !== true) {
        const { quotes } = await asked.call('getQuotes', { body: { symbols } });
        const quoted = new Set(quotes.map(({ symbol }) => symbol));
        const missing = symbols.filter((symbol) => !quoted.has(symbol.trim().toUpperCase()));
        if (quotes.length > 0 || missing.length === 0) printRows(out, quotes, columns);
        if (missing.length > 0) throw new Refused(`No quote for ${missing.join(', ')}`);
        return;
      }
      for await (const quote of asked.quoteEvents(symbols)) {
        const { symbol, bid, ask } = quote;
        out.write(
          out.isTerminal
            ? `${symbol.padEnd(8)} ${bid ?? '–'} / ${ask ?? '–'}\n`
            : `${JSON.stringify(quote)}\n`,
        );
      }
    });
  program
    .command('chain <underlying>')
    .description('List the options on an underlying, with quotes and Greeks.')
    .option('--expiration <date>', 'expiration, YYYY-MM-DD (default: the nearest)')
    .option('--strikes <count>', 'number of strikes around the price', numberOf, 10)
    .option('--type <type>', 'CALL or PUT (default: both)')
    .action(
      async (
        underlying: string,
        { expiration, strikes, type }: { expiration?: string; strikes: number; type?: 'CALL' | 'PUT' },
      ) => {
        const chain = await (
          await client()
        ).call('getOptionChain', {
          params: { underlying: underlying.toUpperCase() },
          query: {
            ...(expiration !== undefined && { expiration }),
            ...(type !== undefined && { optionType: type }),
          },
        });
        if (!out.isTerminal) return printFields(out, chain);
        const { underlyingPrice = 0, contracts } = chain;
        const away = ({ strike }: { readonly strike: number }): number => Math.abs(strike - underlyingPrice);
        const near = [...new Set(contracts.map(({ strike }) => strike))]
          .sort((a, b) => away({ strike: a }) - away({ strike: b }))
          .slice(0, strikes);
        out.write(`${chain.underlying} ${chain.underlyingPrice ?? ''}, ${chain.expiration}\n`);
        printRows(
          out,
          contracts.filter(({ strike }) => near.includes(strike)),
          [
            'optionSymbol',
            'strike',
            'optionType',
            'bid',
            'ask',
            'impliedVolatility',
            'delta',
            'volume',
            'openInterest',
          ],
        );
      },
    );
  program
    .command('doctor')
    .description('Check the server, its clock and the credentials.')
    .action(async () => {
      const asked = await client();
      const ready = await asked.call('getReadiness');
      const { data } = await asked.call('listPortfolios', { query: { limit: 1 } });
      // The clock requires the scope `simulate`; a token without it is valid for the rest.
      const clock = await asked.call('getClock').catch((error: unknown) => {
        if (error instanceof AnswerError) return undefined;
        throw error;
      });
      printFields(out, {
        server: asked.transport.baseUrl,
        ...ready,
        credentials: 'accepted',
        portfolio: data[0]?.portfolioId ?? 'none yet',
        ...(clock !== undefined && { clock: clock.mode, now: clock.now }),
      });
      if (ready.status !== 'ok') throw new Refused(ready.reasons.join('; '));
    });
}
