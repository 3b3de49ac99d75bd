/** Activities of an account, in pages. */
import { Instant, TradingDate } from '@sandpit/core';
import { type ActivityPlace, activityId, type ActivityToken, activityTokenOf } from './activity-ids.js';
import { activitiesOf } from './activity-list.js';
import { invalid } from './refusals.js';
import type { AlpacaCall, AlpacaHandler } from './request.js';

const MOST_AT_ONCE = 100;
/** Most activities of a day in one answer, if none are paged for. */
const MOST_OF_DAY = 10_000;

export const listActivities: AlpacaHandler = async (call) => {
  const { query, book } = call;
  const { calendar, portfolioId } = book;
  const isWanted = wantedTypes(call);
  const isAscending = query.choice('direction', ['asc', 'desc']) === 'asc';
  const limit =
    query.integer('page_size', 1, MOST_AT_ONCE) ?? (query.has('date') ? MOST_OF_DAY : MOST_AT_ONCE);
  const text = query.text('page_token');
  const token = text === undefined ? undefined : activityTokenOf(calendar, text);
  if (text !== undefined && token === undefined) throw invalid('invalid page_token');
  const found: object[] = [];
  for await (const { seq, at, drafts } of activitiesOf(
    book,
    rangeOf(call, token, isAscending),
    isAscending,
  )) {
    const placed = drafts.map((draft, position) => ({ draft, position }));
    for (const { draft, position } of isAscending ? placed : placed.reverse()) {
      if (!isWanted(draft.type)) continue;
      if (token !== undefined && !isBehind(token, seq, position, draft, isAscending)) continue;
      const shape = await draft.show();
      if (shape === undefined) continue;
      found.push({ id: activityId(calendar, at, seq, position), account_id: portfolioId, ...shape });
      if (found.length === limit) return found;
    }
  }
  return found;
};

/** Days of New York that lie within the clocks of simulations. */
const DATE_LENGTH = 10;
const FIRST_DATE = TradingDate.of('1970-01-02');
const LAST_DATE = TradingDate.of('2199-12-30');

/** Instants of a request, as far as its token has not passed them; dates are those of New York. */
function rangeOf(
  { query, book }: AlpacaCall,
  token: ActivityToken | undefined,
  isAscending: boolean,
): { readonly from?: number; readonly to?: number } {
  const { calendar } = book;
  const midnight = (date: TradingDate): Instant => {
    if (date < FIRST_DATE) return Instant.first;
    return date > LAST_DATE ? Instant.last : calendar.instantOf(date, 0, 0);
  };
  const date = query.date('date');
  const bound = (name: 'after' | 'until'): Instant | undefined => {
    if (date !== undefined && query.has(name)) throw invalid(`only one of date or ${name} is accepted`);
    const day = query.text(name)?.length === DATE_LENGTH ? query.date(name) : undefined;
    return day === undefined ? query.instant(name) : midnight(day);
  };
  const [after, until] = [bound('after'), bound('until')];
  const from = [
    ...(date === undefined ? [] : [midnight(date)]),
    ...(after === undefined ? [] : [after + 1]),
    ...(token !== undefined && isAscending ? [token.from] : []),
  ];
  const to = [
    ...(date === undefined
      ? []
      : [date > LAST_DATE ? Instant.last : midnight(TradingDate.plusDays(date, 1))]),
    ...(until === undefined ? [] : [until]),
    ...(token !== undefined && !isAscending ? [token.to + 1] : []),
  ];
  return {
    ...(from.length > 0 && { from: Math.max(...from) }),
    ...(to.length > 0 && { to: Math.min(...to) }),
  };
}

/** True if an activity comes after the one that a token names, in the direction of the list. */
function isBehind(
  token: ActivityToken,
  seq: number,
  position: number,
  place: ActivityPlace,
  isAscending: boolean,
): boolean {
  const difference =
    seq - token.seq ||
    ('position' in token.at ? position - token.at.position : comparePlaces(place, token.at));
  return isAscending ? difference > 0 : difference < 0;
}

const comparePlaces = (a: ActivityPlace, b: ActivityPlace): number =>
  a.event - b.event || a.item - b.item || a.part - b.part;

/** Names of several types together. */
const GROUPS: Readonly<Record<string, (type: string) => boolean>> = {
  TRANS: (type) => type === 'CSD' || type === 'CSW',
  MISC: (type) => !['CSD', 'CSW', 'DIV', 'FILL'].includes(type),
};

/** Types that a request selects: by its path, by name, or by kind. */
function wantedTypes({ params, query }: Pick<AlpacaCall, 'params' | 'query'>): (type: string) => boolean {
  const category = query.choice('category', ['trade_activity', 'non_trade_activity']);
  const named = params['type'] === undefined ? query.list('activity_types') : [params['type']];
  if (category !== undefined && named !== undefined)
    throw invalid('only one of category or activity_types is accepted');
  if (named !== undefined && named.length > 0) return typesNamed(named);
  return (type) => category === undefined || (category === 'trade_activity') === (type === 'FILL');
}

export function typesNamed(names: readonly string[]): (type: string) => boolean {
  const types = names.map((name) => name.toUpperCase());
  return (type) => types.some((name) => name === type || GROUPS[name]?.(type) === true);
}
