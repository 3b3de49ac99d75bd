/** Corporate actions that are announced, and those that took effect in the last week; by the trading API and by that of market data. */
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

const KIND_OF: Readonly<Record<AnnouncedAction['type'], string>> = {
  SPLIT: 'split',
  CASH_DIVIDEND: 'dividend',
  SPECIAL_DIVIDEND: 'dividend',
  STOCK_DIVIDEND: 'dividend',
  SYMBOL_CHANGE: 'merger',
  SPIN_OFF: 'spinoff',
  MERGER: 'merger',
  DELISTING: 'merger',
};

const kindOf = ({ type }: AnnouncedAction): string => KIND_OF[type];

/** New and old shares of an action. */
function ratesOf({ type, ratio, rate = 0 }: AnnouncedAction): {
  readonly more: number;
  readonly old: number;
} {
  if (type === 'STOCK_DIVIDEND') return { more: rate, old: 1 };
  if (ratio === undefined) return { more: 1, old: 1 };
  return typeof ratio === 'number' ? { more: ratio, old: 1 } : { more: ratio.new, old: ratio.old };
}

function subTypeOf(action: AnnouncedAction): string {
  switch (action.type) {
    case 'SPLIT': {
      const { more, old } = ratesOf(action);
      return more < old ? 'reverse_split' : 'stock_split';
    }
    case 'CASH_DIVIDEND':
    case 'SPECIAL_DIVIDEND':
      return 'cash';
    case 'STOCK_DIVIDEND':
      return 'stock';
    case 'SPIN_OFF':
      return 'spinoff';
    case 'SYMBOL_CHANGE':
    case 'MERGER':
    case 'DELISTING':
      return 'merger_completion';
  }
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A UUID in any case: clients read ids as such. */
const idOf = ({ actionId }: AnnouncedAction): string =>
  UUID.test(actionId) ? actionId : uuidOf(`action ${actionId}`);

function shape(action: AnnouncedAction) {
  const { actionId, symbol, exDate, payDate, amountPerShare, cashPerShare, newSymbol } = action;
  const { more, old } = ratesOf(action);
  return {
    id: idOf(action),
    corporate_action_id: actionId,
    ca_type: kindOf(action),
    ca_sub_type: subTypeOf(action),
    initiating_symbol: symbol,
    initiating_original_cusip: '',
    target_symbol: newSymbol ?? symbol,
    target_original_cusip: '',
    ex_date: exDate,
    payable_date: payDate ?? exDate,
    cash: decimal(amountPerShare ?? cashPerShare ?? 0),
    old_rate: decimal(old),
    new_rate: decimal(more),
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
  stock_dividend: 'stock_dividends',
  cash_dividend: 'cash_dividends',
  spin_off: 'spin_offs',
  cash_merger: 'cash_mergers',
  stock_merger: 'stock_mergers',
  stock_and_cash_merger: 'stock_and_cash_mergers',
  name_change: 'name_changes',
  worthless_removal: 'worthless_removals',
};
type Kind = keyof typeof CORPORATE_ACTIONS;
const MOST_ACTIONS = 1000;

/** A delisting with cash is a cash merger without an acquirer. */
function kindOfAction(action: AnnouncedAction): Kind {
  const { type, newSymbol, cashPerShare = 0 } = action;
  switch (type) {
    case 'SPLIT': {
      const { more, old } = ratesOf(action);
      return more < old ? 'reverse_split' : 'forward_split';
    }
    case 'CASH_DIVIDEND':
    case 'SPECIAL_DIVIDEND':
      return 'cash_dividend';
    case 'STOCK_DIVIDEND':
      return 'stock_dividend';
    case 'SYMBOL_CHANGE':
      return 'name_change';
    case 'SPIN_OFF':
      return 'spin_off';
    case 'MERGER':
      if (newSymbol === undefined) return 'cash_merger';
      return cashPerShare === 0 ? 'stock_merger' : 'stock_and_cash_merger';
    case 'DELISTING':
      return cashPerShare === 0 ? 'worthless_removal' : 'cash_merger';
  }
}

/** An action in the form of the market data API; without a CUSIP. */
function actionShape(action: AnnouncedAction, kind: Kind): object {
  const { symbol, exDate, payDate, amountPerShare, cashPerShare = 0, rate, newSymbol = '', type } = action;
  const { more, old } = ratesOf(action);
  const id = idOf(action);
  const paid = { process_date: payDate ?? exDate, payable_date: payDate ?? exDate };
  const common = { id, symbol, ex_date: exDate, ...paid };
  const merger = {
    id,
    acquiree_symbol: symbol,
    acquiree_cusip: '',
    effective_date: exDate,
    ...paid,
  };
  const acquirer = {
    acquirer_symbol: newSymbol,
    acquirer_cusip: '',
    acquirer_rate: more,
    acquiree_rate: old,
  };
  switch (kind) {
    case 'cash_dividend':
      return {
        ...common,
        cusip: '',
        rate: amountPerShare ?? cashPerShare,
        special: type === 'SPECIAL_DIVIDEND',
        foreign: false,
      };
    case 'stock_dividend':
      return { ...common, cusip: '', rate: rate ?? 0 };
    case 'forward_split':
      return { ...common, cusip: '', new_rate: more, old_rate: old };
    case 'reverse_split':
      return { ...common, old_cusip: '', new_cusip: '', new_rate: more, old_rate: old };
    case 'spin_off':
      return {
        id,
        source_symbol: symbol,
        source_cusip: '',
        source_rate: old,
        new_symbol: newSymbol,
        new_cusip: '',
        new_rate: more,
        ex_date: exDate,
        ...paid,
      };
    case 'cash_merger':
      return { ...merger, rate: cashPerShare };
    case 'stock_merger':
      return { ...merger, ...acquirer };
    case 'stock_and_cash_merger':
      return { ...merger, ...acquirer, cash_rate: cashPerShare };
    case 'name_change':
      return {
        id,
        old_symbol: symbol,
        old_cusip: '',
        new_symbol: newSymbol,
        new_cusip: '',
        process_date: exDate,
      };
    case 'worthless_removal':
      return { id, symbol, cusip: '', process_date: exDate };
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
    .filter(
      ({ symbol, newSymbol }) =>
        symbols === undefined ||
        [symbol, newSymbol].some((one) => one !== undefined && symbols.includes(one)),
    )
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
