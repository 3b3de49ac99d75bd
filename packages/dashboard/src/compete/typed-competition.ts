/** A competition as the form has it: texts, and the requests that follow from them. */
import type {
  AssetClass,
  Competition,
  CompetitionBody,
  CompetitionMarket,
  CompetitionRules,
  UpdateCompetitionBody,
} from '@sandpit/protocol';
import { asIfInNewYork, instantInNewYork, numberTyped } from '../format.ts';

export const NEW = {
  name: '',
  feed: 'synthetic',
  clock: 'scaled',
  speed: '60',
  start: '2026-01-05T09:30',
  end: '2026-01-09T16:00',
  seed: '',
  mask: 'yes',
  cash: '100,000',
  portfolioType: 'MARGIN',
  brokerId: 'default',
  /** Asset classes, separated by spaces. */
  assets: 'EQUITY',
  symbols: '',
  position: '',
  orders: '',
  dailyLoss: '',
  drawdown: '',
  shorts: 'broker',
  optionLevel: '',
  latency: '',
  fillModel: '',
  minPrice: '',
  minTrades: '1',
  scoring: 'TOTAL_RETURN',
  entry: 'OPEN',
  capacity: '',
  perTenant: '1',
  visibility: 'PRIVATE',
};
export type TypedCompetition = typeof NEW;

/** Entries of a competition without a capacity. */
const MOST_ENTRIES = 10_000;

const IN_MARKET = ['feed', 'clock', 'speed', 'start', 'end', 'seed', 'mask'] as const;
const IN_RULES = [
  ...(['cash', 'portfolioType', 'brokerId', 'assets', 'symbols', 'shorts', 'perTenant'] as const),
  ...(['position', 'orders', 'dailyLoss', 'drawdown'] as const),
  ...(['optionLevel', 'latency', 'fillModel', 'minPrice', 'minTrades'] as const),
] as const;

export const assetsOf = ({ assets }: TypedCompetition): readonly AssetClass[] =>
  assets.split(' ').filter((one) => one !== '') as AssetClass[];

const local = (at: string): string => new Date(asIfInNewYork(Date.parse(at))).toISOString().slice(0, 16);
const textOf = (value: number | string | undefined): string => (value === undefined ? '' : String(value));

/** The texts of a competition that exists. */
export function typedOf({
  name,
  market,
  rules,
  scoring,
  entry,
  capacity,
  visibility,
}: Competition): TypedCompetition {
  const { shortSelling } = rules;
  return {
    name,
    feed: market.feed,
    clock: market.clock,
    speed: textOf(market.speed ?? NEW.speed),
    start: local(market.start),
    end: local(market.end),
    seed: textOf(market.seed),
    mask: market.mask === false ? 'no' : 'yes',
    cash: textOf(rules.initialCash),
    portfolioType: rules.portfolioType,
    brokerId: rules.brokerId,
    assets: rules.assetClasses.join(' '),
    symbols: rules.symbols?.join(', ') ?? '',
    position: textOf(rules.maxPositionPercent),
    orders: textOf(rules.maxOrdersPerMinute),
    dailyLoss: textOf(rules.maxDailyLossPercent),
    drawdown: textOf(rules.trailingDrawdownPercent),
    shorts: shortSelling === undefined ? 'broker' : shortSelling ? 'yes' : 'no',
    optionLevel: textOf(rules.optionLevel),
    latency: textOf(rules.latencyProfile),
    fillModel: textOf(rules.fillModel),
    minPrice: textOf(rules.minPrice),
    minTrades: textOf(rules.minTrades ?? NEW.minTrades),
    scoring,
    entry,
    capacity: textOf(capacity),
    perTenant: textOf(rules.entriesPerTenant ?? NEW.perTenant),
    visibility,
  };
}

const number = (text: string, field: string): object => {
  const value = numberTyped(text);
  return value === undefined ? {} : { [field]: value };
};

function marketOf({ feed, clock, speed, start, end, seed, mask }: TypedCompetition): CompetitionMarket {
  return {
    feed,
    clock,
    start: instantInNewYork(start) ?? start,
    end: instantInNewYork(end) ?? end,
    ...(clock === 'scaled' && number(speed, 'speed')),
    ...(seed.trim() !== '' && { seed: seed.trim() }),
    ...(feed === 'replay' && mask === 'no' && { mask: false }),
  } as CompetitionMarket;
}

function rulesOf(typed: TypedCompetition): CompetitionRules {
  const { portfolioType, brokerId, shorts } = typed;
  const symbols = typed.symbols.split(/[\s,]+/).filter((symbol) => symbol !== '');
  return {
    ...number(typed.cash, 'initialCash'),
    portfolioType,
    brokerId,
    assetClasses: assetsOf(typed),
    ...(shorts !== 'broker' && { shortSelling: shorts === 'yes' }),
    ...(symbols.length > 0 && { symbols: symbols.map((symbol) => symbol.toUpperCase()) }),
    ...number(typed.position, 'maxPositionPercent'),
    ...number(typed.orders, 'maxOrdersPerMinute'),
    ...number(typed.dailyLoss, 'maxDailyLossPercent'),
    ...number(typed.drawdown, 'trailingDrawdownPercent'),
    ...number(typed.optionLevel, 'optionLevel'),
    ...(typed.latency !== '' && { latencyProfile: typed.latency }),
    ...(typed.fillModel !== '' && { fillModel: typed.fillModel }),
    ...number(typed.minPrice, 'minPrice'),
    ...number(typed.minTrades, 'minTrades'),
    ...number(typed.perTenant, 'entriesPerTenant'),
  } as CompetitionRules;
}

/** The request of a new competition. Empty fields are omitted; the server checks the rest. */
export const bodyOf = (typed: TypedCompetition): CompetitionBody =>
  ({
    name: typed.name.trim(),
    market: marketOf(typed),
    rules: rulesOf(typed),
    scoring: typed.scoring,
    entry: typed.entry,
    visibility: typed.visibility,
    ...number(typed.capacity, 'capacity'),
  }) as CompetitionBody;

/** The request of an edit: the changes, with the settings of the market that the form does not show. */
export function changesOf(competition: Competition, typed: TypedCompetition): UpdateCompetitionBody {
  const before = typedOf(competition);
  const isChanged = (name: keyof TypedCompetition): boolean => typed[name] !== before[name];
  const { calendar, replay, mask, luld, start, end, seed } = competition.market;
  return {
    ...(isChanged('name') && { name: typed.name.trim() }),
    ...(IN_MARKET.some(isChanged) && {
      market: defined({
        ...marketOf(typed),
        ...{ calendar, replay, luld },
        ...(!isChanged('mask') && { mask }),
        // Unchanged, to the second and the type.
        ...(!isChanged('start') && { start }),
        ...(!isChanged('end') && { end }),
        ...(!isChanged('seed') && { seed }),
      }),
    }),
    ...(IN_RULES.some(isChanged) && {
      rules: rulesOf(typed),
    }),
    ...(isChanged('scoring') && { scoring: typed.scoring }),
    ...(isChanged('entry') && { entry: typed.entry }),
    ...(isChanged('visibility') && { visibility: typed.visibility }),
    ...(isChanged('capacity') && { capacity: numberTyped(typed.capacity) ?? MOST_ENTRIES }),
  } as UpdateCompetitionBody;
}

const defined = (fields: object): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
