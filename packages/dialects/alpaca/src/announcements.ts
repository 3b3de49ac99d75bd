/** Splits and dividends that are announced, and those that took effect in the last week; by the trading API and by that of market data. */
import { type AnnouncedAction, uuidOf } from '@sandpit/dialect-port';
import { decimal } from './decimals.js';
import { invalid, notFound } from './refusals.js';
import type { AlpacaCall, AlpacaHandler } from './request.js';

const KINDS = ['dividend', 'merger', 'spinoff', 'split'];
const DATES = ['declaration_date', 'ex_date', 'record_date', 'payable_date'] as const;
/** The known dates of an action; declaration and record dates do not exist. */
type KnownDate = 'ex_date' | 'payable_date';
const isKnown = (date: (typeof DATES)[number]): date is KnownDate =>
  date === 'ex_date' || date === 'payable_date';
const LONGEST_MS = 90 * 86_400_000;

const actionsOf = ({ book }: AlpacaCall): Promise<readonly AnnouncedAction[]> => book.market.actions();

const kindOf = ({ type }: AnnouncedAction): string => (type === 'SPLIT' ? 'split' : 'dividend');

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A UUID in any case: clients read ids as such. */
const idOf = ({ actionId }: AnnouncedAction): string =>
  UUID.test(actionId) ? actionId : uuidOf(`action ${actionId}`);

function shape(action: AnnouncedAction) {
  const { actionId, symbol, exDate, payDate, ratio, amountPerShare } = action;
  return {
    id: idOf(action),
    corporate_action_id: actionId,
    ca_type: kindOf(action),
    ca_sub_type: ratio === undefined ? 'cash' : ratio.new < ratio.old ? 'reverse_split' : 'stock_split',
    initiating_symbol: symbol,
    initiating_original_cusip: '',
    target_symbol: symbol,
    target_original_cusip: '',
    ex_date: exDate,
    payable_date: payDate ?? exDate,
    cash: decimal(amountPerShare ?? 0),
    old_rate: decimal(ratio?.old ?? 1),
    new_rate: decimal(ratio?.new ?? 1),
  };
}

export const listAnnouncements: AlpacaHandler = async (call) => {
  const { query } = call;
  const kinds = query.list('ca_types')?.map((kind) => kind.toLowerCase());
  if (kinds === undefined || kinds.length === 0) throw invalid('ca_types is required');
  if (!kinds.every((kind) => KINDS.includes(kind))) throw invalid(`ca_types must be of ${KINDS.join(', ')}`);
  const [since, until] = [query.date('since'), query.date('until')];
  if (since === undefined || until === undefined) throw invalid('since and until are required');
  if (since > until || Date.parse(until) - Date.parse(since) > LONGEST_MS)
    throw invalid('since and until must be at most 90 days apart');
  const symbol = query.text('symbol')?.toUpperCase();
  // Instruments here have no CUSIP.
  if (query.has('cusip')) return [];
  const date = query.choice('date_type', DATES) ?? 'ex_date';
  return (await actionsOf(call)).map(shape).filter((one) => {
    const at = isKnown(date) ? one[date] : undefined;
    return (
      kinds.includes(one.ca_type) &&
      (symbol === undefined || one.initiating_symbol === symbol) &&
      at !== undefined &&
      at >= since &&
      at <= until
    );
  });
};

export const getAnnouncement: AlpacaHandler = async (call) => {
  const action = (await actionsOf(call)).find((one) => idOf(one) === call.params['id']);
  if (action === undefined) throw notFound('announcement not found');
  return shape(action);
};

const CORPORATE_ACTIONS = {
  forward_split: 'forward_splits',
  reverse_split: 'reverse_splits',
  cash_dividend: 'cash_dividends',
};
type Kind = keyof typeof CORPORATE_ACTIONS;
const MOST_ACTIONS = 1000;

function kindOfAction({ ratio }: AnnouncedAction): Kind {
  if (ratio === undefined) return 'cash_dividend';
  return ratio.new < ratio.old ? 'reverse_split' : 'forward_split';
}

/** A split or dividend in the form of the market data API; without a CUSIP. */
function actionShape(action: AnnouncedAction, kind: Kind): object {
  const { symbol, exDate, payDate, ratio, amountPerShare } = action;
  const common = {
    id: idOf(action),
    symbol,
    ex_date: exDate,
    process_date: payDate ?? exDate,
    payable_date: payDate ?? exDate,
  };
  switch (kind) {
    case 'cash_dividend':
      return { ...common, cusip: '', rate: amountPerShare ?? 0, special: false, foreign: false };
    case 'forward_split':
      return { ...common, cusip: '', new_rate: ratio?.new ?? 1, old_rate: ratio?.old ?? 1 };
    case 'reverse_split':
      return {
        ...common,
        old_cusip: '',
        new_cusip: '',
        new_rate: ratio?.new ?? 1,
        old_rate: ratio?.old ?? 1,
      };
  }
}

/** `/v1/corporate-actions` and `/v1beta1/corporate-actions`: the requested actions by kind, with a token if there are more. */
export const corporateActions: AlpacaHandler = async (call) => {
  const { query } = call;
  const types = query.list('types')?.map((type) => type.toLowerCase());
  const symbols = query.list('symbols')?.map((symbol) => symbol.toUpperCase());
  const ids = query.list('ids');
  if (
    ids !== undefined &&
    (query.has('start') || query.has('end') || symbols !== undefined || types !== undefined)
  )
    throw invalid('ids cannot be combined with other filters');
  // Instruments here have no CUSIP and are of the US.
  const isNone = query.has('cusips') || (query.text('region')?.toLowerCase() ?? 'us') !== 'us';
  const { calendar } = call.book;
  const today = calendar.dateOf(call.book.now());
  const [start, end] = [query.date('start') ?? today, query.date('end') ?? today];
  if (start > end) throw invalid('end should not be before start');
  const limit = query.integer('limit', 1, MOST_ACTIONS) ?? 100;
  const token = query.text('page_token');
  const begin = token === undefined ? 0 : Number(token);
  if (!Number.isSafeInteger(begin) || begin < 0) throw invalid('invalid page_token');
  const found = (await actionsOf(call))
    .filter((action) =>
      ids === undefined
        ? !isNone && action.exDate >= start && action.exDate <= end
        : ids.includes(idOf(action)),
    )
    .filter(({ symbol }) => symbols?.includes(symbol) !== false)
    .filter((action) => types?.includes(kindOfAction(action)) !== false)
    .sort((a, b) => (a.exDate < b.exDate ? -1 : a.exDate > b.exDate ? 1 : a.symbol < b.symbol ? -1 : 1));
  const ordered = query.choice('sort', ['asc', 'desc']) === 'desc' ? found.reverse() : found;
  const shown: Record<string, object[]> = {};
  for (const action of ordered.slice(begin, begin + limit)) {
    const kind = kindOfAction(action);
    (shown[CORPORATE_ACTIONS[kind]] ??= []).push(actionShape(action, kind));
  }
  const next = begin + limit < ordered.length ? String(begin + limit) : null;
  return { corporate_actions: shown, next_page_token: next };
};
