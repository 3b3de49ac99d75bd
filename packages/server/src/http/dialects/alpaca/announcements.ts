/** Splits and dividends that are announced, and those that took effect in the last week. */
import type { AnnouncedAction } from '@sandpit/protocol';
import { shownActions } from '../../translate/simulations.js';
import { decimal } from './decimals.js';
import { invalid, notFound } from './refusals.js';
import type { AlpacaCall, AlpacaHandler } from './request.js';

const KINDS = ['dividend', 'merger', 'spinoff', 'split'];
const DATES = ['declaration_date', 'ex_date', 'record_date', 'payable_date'] as const;
const LONGEST_MS = 90 * 86_400_000;

const actionsOf = ({ simulation }: AlpacaCall): Promise<readonly AnnouncedAction[]> =>
  simulation.read([], ({ state, rules }) => shownActions(state.actions.values(), rules.calendar));

const kindOf = ({ type }: AnnouncedAction): string => (type === 'SPLIT' ? 'split' : 'dividend');

function shape(action: AnnouncedAction) {
  const { actionId, symbol, exDate, payDate, ratio, amountPerShare } = action;
  return {
    id: actionId,
    corporate_action_id: actionId,
    ca_type: kindOf(action),
    ca_sub_type: ratio === undefined ? 'cash' : ratio.new < ratio.old ? 'reverse_split' : 'stock_split',
    initiating_symbol: symbol,
    initiating_original_cusip: '',
    target_symbol: symbol,
    target_original_cusip: '',
    declaration_date: null,
    ex_date: exDate,
    record_date: null,
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
  const date = query.choice('date_type', DATES) ?? 'ex_date';
  return (await actionsOf(call)).map(shape).filter((one) => {
    const at = one[date];
    return (
      kinds.includes(one.ca_type) &&
      (symbol === undefined || one.initiating_symbol === symbol) &&
      at !== null &&
      at >= since &&
      at <= until
    );
  });
};

export const getAnnouncement: AlpacaHandler = async (call) => {
  const action = (await actionsOf(call)).find(({ actionId }) => actionId === call.params['id']);
  if (action === undefined) throw notFound('announcement not found');
  return shape(action);
};
