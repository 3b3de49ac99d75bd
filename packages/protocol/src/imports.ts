import type { Static } from 'typebox';
import {
  anyText,
  choice,
  closed,
  dateOrInstant,
  instant,
  list,
  listOf,
  moneyBounds,
  number,
  optional,
  parameters,
  price,
  quantityBounds,
  signed,
  text,
  uuid,
} from './fields.js';
import { ruled } from './rules.js';

export const fileFormats = ['sandpit', 'alpaca', 'fidelity', 'schwab', 'ibkr'] as const;

export const ImportQuery = parameters({
  format: optional(
    choice([...fileFormats], { description: 'Format of the file. Default: recognized by its content.' }),
  ),
  account: optional(
    text({
      description: 'Account to import from a file with several: its number or name, as the file has it.',
    }),
  ),
  skip: optional(
    choice(['unsupported'], {
      description: 'Skips unsupported rows, lists them in `skipped`, and imports the rest.',
    }),
  ),
});
export type ImportQuery = Static<typeof ImportQuery>;

const acquiredAt = () =>
  optional(
    dateOrInstant({
      description: 'Acquisition: a New York date or an instant. Default: the time of the import.',
    }),
  );
const cost = () =>
  optional(price({ description: 'Cost per share, or per unit of a contract, dollars. Default: the mark.' }));

const LotToImport = closed('LotToImport', {
  quantity: signed(quantityBounds, { description: 'Quantity; negative = short.' }),
  price: cost(),
  acquiredAt: acquiredAt(),
});

const PositionToImport = ruled(
  closed('PositionToImport', {
    symbol: text({ maxLength: 32, examples: ['AAPL'] }),
    quantity: signed(quantityBounds, {
      description: 'Shares or contracts; negative = short.',
      examples: [10],
    }),
    price: cost(),
    acquiredAt: acquiredAt(),
    lots: optional(
      list(
        LotToImport,
        { min: 1, max: 1000 },
        {
          description:
            'Lots of the position, instead of `price` and `acquiredAt`. Their quantities add up to `quantity`.',
        },
      ),
    ),
  }),
  ({ quantity, price: cost, acquiredAt: date, lots }, report) => {
    if (quantity === 0) report.field('quantity', 'must not be 0');
    if (!Array.isArray(lots)) return;
    if (cost !== undefined || date !== undefined)
      report.field('lots', 'must not be given together with price or acquiredAt');
    const quantities = lots.map((lot: { readonly quantity?: unknown } | null) => lot?.quantity);
    if (typeof quantity !== 'number' || !quantities.every((one) => typeof one === 'number')) return;
    if (quantities.includes(0)) report.field('lots', 'must not have a quantity of 0');
    const millionths = (shares: number): number => Math.round(shares * 1e6);
    const sum = quantities.reduce((all, one) => all + millionths(one), 0);
    if (sum !== millionths(quantity)) report.field('lots', 'must add up to quantity');
  },
);

/** Longest text of a file, characters. */
const LONGEST_FILE = 900_000;

export const ImportBody = ruled(
  closed('ImportBody', {
    cash: optional(
      signed(moneyBounds, {
        description: 'Dollars added to the cash; negative = a debit balance of a MARGIN portfolio.',
      }),
    ),
    positions: optional(list(PositionToImport, { min: 0, max: 5000 })),
    file: optional(
      anyText({
        maxLength: LONGEST_FILE,
        description:
          'Text of a positions file, instead of `cash` and `positions`. A file may also be the whole request body, as `text/csv` or as a JSON list of Alpaca.',
        'x-expected': 'must be the text of a file',
      }),
    ),
  }),
  ({ file, cash, positions }, report) => {
    if (file !== undefined && (cash !== undefined || positions !== undefined))
      report.field('file', 'must not be given together with cash or positions');
  },
);
export type ImportBody = Static<typeof ImportBody>;

export const ImportedPosition = closed('ImportedPosition', {
  symbol: anyText(),
  quantity: number({ description: 'Shares or contracts of the lot; negative = short.' }),
  price: number({ description: 'Cost per share or unit, dollars.' }),
  basis: choice(['GIVEN', 'MARK'], { description: 'Source of the cost: the request, or the mark.' }),
  acquiredAt: instant(),
});

export const SkippedRow = closed('SkippedRow', {
  row: anyText({ description: 'Position in the file or the body.', examples: ['row 7'] }),
  symbol: anyText(),
  reason: anyText(),
});

export const ImportResult = closed('ImportResult', {
  portfolioId: uuid(),
  format: optional(choice([...fileFormats], { description: 'Format of the imported file.' })),
  cash: number({ description: 'Dollars added.' }),
  positions: listOf(ImportedPosition, {
    description: 'Lots entered, in the order in which they were given.',
  }),
  skipped: listOf(SkippedRow, { description: 'Rows that were left out with `skip=unsupported`.' }),
});
export type ImportResult = Static<typeof ImportResult>;
