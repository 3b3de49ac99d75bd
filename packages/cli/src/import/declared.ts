/** Reads a layout that a user declares, field by field. */
import { readFileSync } from 'node:fs';
import { Refused } from '../refused.js';
import { type Field, FIELDS, type Layout } from './layout.js';
import { zoneNamed } from './times.js';

const KINDS = ['bars', 'quotes', 'daily'] as const;
const UNITS = ['s', 'ms', 'us', 'ns', 'text'] as const;
const MARKS = ['start', 'end', 'at'] as const;
const ORDERS = ['MDY', 'DMY'] as const;
const ADJUSTMENTS = ['none', 'split', 'unknown'] as const;
const NEEDED: Readonly<Record<Layout['kind'], readonly Field[]>> = {
  bars: ['time', 'open', 'high', 'low', 'close'],
  daily: ['time', 'open', 'high', 'low', 'close'],
  quotes: ['time', 'bid', 'ask'],
};
const MOST_DECIMALS = 15;
const MOST_LOTS = 1_000_000;
const MOST_HEADER_LINES = 100;

const ZONE_REMEDY =
  'name a place (America/New_York for exchange time, Etc/GMT+5 for UTC−5 all year as in HistData) or an offset (-05:00)';

type Fields = Readonly<Record<string, unknown>>;

/** Reads the file of `--layout`; throws `Refused` with every problem. */
export function declaredLayout(path: string): Layout {
  let declared: unknown;
  try {
    declared = JSON.parse(readFileSync(path, 'utf8').replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new Refused(`${path}: not a layout in JSON (${(error as Error).message})`);
  }
  const check = new LayoutCheck();
  const layout = check.layout(declared);
  if (check.problems.length > 0) throw new Refused(`${path}: ${check.problems.join('; ')}`);
  return layout;
}

class LayoutCheck {
  readonly problems: string[] = [];

  layout(declared: unknown): Layout {
    const fields = this.#object('the layout', declared, [
      ...[
        'kind',
        'columns',
        'others',
        'time',
        'priceDecimals',
        'lots',
        'adjusted',
        'absent',
        'headerLines',
        'delimiter',
      ],
    ]);
    const kind = this.#oneOf('kind', fields.kind, KINDS) ?? 'bars';
    const headerLines = this.#whole('headerLines', fields.headerLines, 0, MOST_HEADER_LINES);
    const columns = this.#columns(fields.columns, kind, headerLines === 0);
    const time = this.#time(fields.time);
    const priceDecimals = this.#whole('priceDecimals', fields.priceDecimals, 0, MOST_DECIMALS);
    const lots = this.#whole('lots', fields.lots, 1, MOST_LOTS);
    const absent = this.#texts('absent', fields.absent);
    const { delimiter } = fields;
    if (delimiter !== undefined && (typeof delimiter !== 'string' || delimiter.length !== 1))
      this.problems.push('delimiter must be one character');
    this.#texts('others', fields.others);
    return {
      kind,
      columns,
      time,
      adjusted:
        fields.adjusted === undefined
          ? 'unknown'
          : (this.#oneOf('adjusted', fields.adjusted, ADJUSTMENTS) ?? 'unknown'),
      ...(priceDecimals !== undefined && { priceDecimals }),
      ...(lots !== undefined && { lots }),
      ...(absent !== undefined && { absent }),
      ...(headerLines !== undefined && { headerLines }),
      ...(typeof delimiter === 'string' && { delimiter }),
    };
  }

  #time(declared: unknown): Layout['time'] {
    const fields = this.#object('time', declared, ['unit', 'zone', 'marks', 'dates']);
    const unit = this.#oneOf('time.unit', fields.unit, UNITS) ?? 'text';
    const { zone } = fields;
    if (zone !== undefined && (typeof zone !== 'string' || zoneNamed(zone) === undefined))
      this.problems.push(`time.zone ${JSON.stringify(zone)} is not a time zone: ${ZONE_REMEDY}`);
    const said = typeof fields.marks === 'string' ? fields.marks.toLowerCase() : fields.marks;
    const marks = said === undefined ? undefined : this.#oneOf('time.marks', said, MARKS, 'START, END or AT');
    const dates = fields.dates === undefined ? undefined : this.#oneOf('time.dates', fields.dates, ORDERS);
    return {
      unit,
      ...(typeof zone === 'string' && { zone }),
      ...(marks !== undefined && { marks }),
      ...(dates !== undefined && { dates }),
    };
  }

  #columns(declared: unknown, kind: Layout['kind'], isByPosition: boolean): Layout['columns'] {
    const fields = this.#object('columns', declared, FIELDS);
    for (const [field, column] of Object.entries(fields)) {
      const isRight = isByPosition
        ? Number.isInteger(column) && Number(column) >= 0
        : typeof column === 'string' && column !== '';
      if (!isRight)
        this.problems.push(
          `columns.${field} must be ${isByPosition ? 'a position from 0, as headerLines is 0' : 'the name of a column'}`,
        );
    }
    for (const field of NEEDED[kind])
      if (fields[field] === undefined) this.problems.push(`columns.${field} is required for ${kind}`);
    return fields;
  }

  #object(name: string, declared: unknown, known: readonly string[]): Fields {
    if (typeof declared !== 'object' || declared === null || Array.isArray(declared)) {
      this.problems.push(`${name} must be an object`);
      return {};
    }
    for (const field of Object.keys(declared))
      if (!known.includes(field))
        this.problems.push(`${name} has no field ${JSON.stringify(field)}; it has ${known.join(', ')}`);
    return declared as Fields;
  }

  #oneOf<T extends string>(
    name: string,
    value: unknown,
    known: readonly T[],
    shown = known.join(', '),
  ): T | undefined {
    const found = known.find((one) => one === value);
    if (found === undefined) this.problems.push(`${name} must be one of ${shown}`);
    return found;
  }

  #whole(name: string, value: unknown, least: number, most: number): number | undefined {
    if (value === undefined) return undefined;
    if (Number.isInteger(value) && Number(value) >= least && Number(value) <= most) return Number(value);
    this.problems.push(`${name} must be a whole number from ${least} to ${most}`);
    return undefined;
  }

  #texts(name: string, value: unknown): readonly string[] | undefined {
    if (value === undefined) return undefined;
    if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value;
    this.problems.push(`${name} must be a list of texts`);
    return undefined;
  }
}
