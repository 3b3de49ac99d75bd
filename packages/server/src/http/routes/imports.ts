import {
  type Instant,
  type Instrument,
  type LotToImport,
  Money,
  namesAdjusted,
  optionOnListed,
  Price,
  pricePer,
  Quantity,
} from '@sandpit/core';
import type { ImportBody, ImportQuery, ImportResult } from '@sandpit/protocol';
import { parseDateTime } from '@sandpit/protocol';
import type { Simulation } from '../../engine/simulation/simulation.js';
import { inSlices, mapInSlices, Slice } from '../../engine/scheduling/slice.js';
import { type FileAccount, rounded, truncated, UnreadableFile } from '../../imports/broker-file.js';
import { otherSpellings } from '../../imports/file-symbols.js';
import { readBrokerFile } from '../../imports/read-broker-file.js';
import { Answer, refuse } from '../answer.js';
import { execute, type Handlers } from '../call.js';
import { symbolIn } from '../listed.js';
import { instantOf, isoOf } from '../translate/instants.js';
import {
  moneyNumber,
  moneyOf,
  priceNumber,
  priceOf,
  quantityNumber,
  quantityOf,
} from '../translate/numbers.js';
import { answerTo, isRejection } from '../translate/rejections.js';

/** Lots of an import that is not decided in the slice in which its request was read. */
const LONG_IMPORT = 100;

/** An import in the terms of the brokerage, with the rows that it cannot import. */
interface Brought {
  readonly format?: ImportResult['format'];
  readonly cash: Money;
  readonly lots: readonly (LotToImport & { readonly row: string })[];
  readonly skipped: ImportResult['skipped'];
}

export const importHandlers: Pick<Handlers, 'importPositions'> = {
  async importPositions(call) {
    const { simulation, principal, params, body, query } = call;
    const brought =
      body.file === undefined ? await ofBody(simulation, body) : await ofFile(simulation, body.file, query);
    if (brought instanceof Answer) return brought;
    const { format, cash, lots, skipped } = brought;
    if (skipped.length > 0 && query.skip !== 'unsupported')
      return refuse(
        400,
        firstOf(skipped, ({ row, symbol, reason }) => `${row}: ${symbol}: ${reason}`),
      );
    // The decision has its own slice.
    if (lots.length >= LONG_IMPORT) await new Slice().yield();
    return execute<'ImportPositions'>(
      call,
      { type: 'ImportPositions', by: principal.by, portfolioId: params.portfolioId, cash, lots },
      ({ result }) => {
        if (isRejection(result))
          return answerTo(
            result.code === 'INVALID'
              ? { ...result, messages: firstOf(result.messages, (message) => inRows(message, lots)) }
              : result,
          );
        return {
          portfolioId: params.portfolioId,
          ...(format !== undefined && { format }),
          cash: moneyNumber(cash),
          positions: result.lots.map(({ symbol, quantity, price, basis, acquiredAt }) => ({
            symbol,
            quantity: quantityNumber(quantity),
            price: priceNumber(price),
            basis,
            acquiredAt: isoOf(acquiredAt),
          })),
          skipped,
        };
      },
    );
  },
};

/** Rows that a refusal names (D234). */
const MOST_NAMED = 100;

/** Messages about the first rows, and how many there are. */
function firstOf<Row>(rows: readonly Row[], describe: (row: Row) => string): string[] {
  const named = rows.slice(0, MOST_NAMED).map(describe);
  if (rows.length <= MOST_NAMED) return named;
  const [all, first] = [rows.length, MOST_NAMED].map((count) => count.toLocaleString('en-US'));
  return [...named, `${all} rows cannot be imported; these are the first ${first}`];
}

/** Messages of the brokerage count lots; the user counts rows. */
const inRows = (message: string, lots: Brought['lots']): string =>
  message.replace(/^positions\[(\d+)\]/, (all, index: string) => lots[Number(index)]?.row ?? all);

async function ofBody(simulation: Simulation, { cash, positions = [] }: ImportBody): Promise<Brought> {
  const skipped: ImportResult['skipped'] = [];
  const lots = await mapInSlices([...positions.entries()], ([index, position]) => {
    const { symbol: text, quantity, price, acquiredAt, lots: given } = position;
    const row = `positions.${index}`;
    const symbol = symbolIn(simulation, text);
    if (instrumentNamed(simulation, symbol) === undefined) {
      skipped.push({ row, symbol, reason: whyUnknown(simulation, symbol) });
      return [];
    }
    return (given ?? [{ quantity, price, acquiredAt }]).map((lot, at) => ({
      row: given === undefined ? row : `${row}.lots.${at}`,
      symbol,
      quantity: quantityOf(lot.quantity),
      ...(lot.price !== undefined && { price: priceOf(lot.price) }),
      ...(lot.acquiredAt !== undefined && { acquiredAt: acquired(simulation, lot.acquiredAt) }),
    }));
  });
  return { cash: cash === undefined ? Money.zero : moneyOf(cash), lots: lots.flat(), skipped };
}

async function ofFile(simulation: Simulation, text: string, query: ImportQuery): Promise<Brought | Answer> {
  try {
    const { format, accounts } = await inSlices(readBrokerFile(text, query.format));
    const account = chosen(accounts, query.account);
    const skipped = [...account.unsupported];
    const lots = await mapInSlices(account.rows, (row) => {
      const instrument = instrumentOf(simulation, row.symbol);
      if (instrument === undefined) {
        const reason = whyUnknown(simulation, symbolIn(simulation, row.symbol));
        skipped.push({ row: row.row, symbol: row.symbol, reason });
        return [];
      }
      const quantity = Quantity.parse(truncated(row.quantity, 6));
      const price = priceIn(row, instrument, quantity);
      if (quantity === undefined || price === undefined)
        throw new UnreadableFile(`file: ${row.row}: a number of ${row.symbol} is too large`);
      if (quantity === 0) return [];
      return {
        row: row.row,
        symbol: instrument.symbol,
        quantity,
        ...(price !== 'MARK' && { price }),
        ...(row.acquiredAt !== undefined && { acquiredAt: acquiredIn(simulation, row.acquiredAt, row.row) }),
      };
    });
    skipped.sort((a, b) => placeOf(a.row) - placeOf(b.row));
    const cash = account.cash.reduce((sum, amount) => Money.add(sum, cashIn(amount)), Money.zero);
    return { format, cash, lots: lots.flat(), skipped };
  } catch (error) {
    if (error instanceof UnreadableFile) return refuse(400, [error.message]);
    throw error;
  }
}

/** Number of a row in its file. */
const placeOf = (row: string): number => Number(/\d+$/.exec(row)?.[0] ?? 0);

function chosen(accounts: readonly FileAccount[], name: string | undefined): FileAccount {
  const [first, ...others] = accounts;
  const found =
    name === undefined && others.length === 0
      ? first
      : accounts.find(({ names }) => name !== undefined && names.includes(name));
  if (found !== undefined) return found;
  throw new UnreadableFile(`account must be one of ${accounts.map(({ names }) => names[0]).join(', ')}`);
}

/** By its symbol, by another spelling in the catalog, or as a contract on a listed underlying, which the import lists. */
function instrumentOf(simulation: Simulation, symbol: string): Instrument | undefined {
  for (const spelling of [symbol, ...otherSpellings(symbol)]) {
    const instrument = simulation.brokerage.instrument(symbolIn(simulation, spelling));
    if (instrument !== undefined) return instrument;
  }
  return instrumentNamed(simulation, symbolIn(simulation, symbol));
}

/** A listed instrument, or a contract on a listed underlying. */
const instrumentNamed = ({ brokerage }: Simulation, symbol: string): Instrument | undefined =>
  brokerage.instrument(symbol) ?? optionOnListed(symbol, (name) => brokerage.instrument(name));

const whyUnknown = ({ brokerage }: Simulation, symbol: string): string =>
  namesAdjusted(symbol, (name) => brokerage.instrument(name)?.assetClass)
    ? 'adjusted contract whose deliverable is unknown: list it with its deliverable first'
    : 'unknown symbol';

/** The cost of a row per share, from its total cost if the file has it. Undefined = the number is too large. */
function priceIn(
  { cost, price }: { readonly cost?: string; readonly price?: string },
  instrument: Instrument,
  quantity: Quantity | undefined,
): Price | 'MARK' | undefined {
  if (quantity === undefined) return undefined;
  if (cost === undefined || Number(cost) === 0 || instrument.assetClass === 'INDEX' || quantity === 0)
    return price === undefined ? 'MARK' : Price.parse(rounded(price, 8));
  const total = Money.parse(rounded(cost, 4));
  return total === undefined || !Money.isPostable(total)
    ? undefined
    : pricePer(instrument, total, Quantity.ofUnits(Math.abs(quantity)));
}

/** Cash of a file, in whole cents. */
function cashIn(amount: string): Money {
  const cash = Money.parse(rounded(amount, 2));
  if (cash === undefined || !Money.isPostable(cash)) throw new UnreadableFile('file: cash is too large');
  return cash;
}

/** The instant of an `acquiredAt`; a date is the start of that day in New York. */
function acquired({ brokerage }: Simulation, text: string): Instant {
  return instantOf(text, brokerage.rules.calendar);
}

function acquiredIn(simulation: Simulation, text: string, row: string): Instant {
  if (parseDateTime(text) === undefined) throw new UnreadableFile(`file: ${row}: ${text} is not a date`);
  return acquired(simulation, text);
}
