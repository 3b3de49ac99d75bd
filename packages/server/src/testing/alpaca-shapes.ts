/**
 * Answers of Alpaca's APIs, written after their OpenAPI documents: names, types, what may be null and what may be absent. A name that
 * ends in `?` may be absent, a type that ends in `?` may be null, `a|b` is one of these words, a list has one shape for its items, and
 * `*` stands for any name.
 */
export type AnswerShape = string | readonly [AnswerShape] | { readonly [name: string]: AnswerShape };

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  text: (value) => typeof value === 'string',
  decimal: (value) => typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value),
  uuid: (value) => typeof value === 'string' && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value),
  time: (value) =>
    typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/.test(value),
  date: (value) => typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value),
  clock: (value) => typeof value === 'string' && /^\d\d:\d\d$/.test(value),
  digits: (value) => typeof value === 'string' && /^\d{4}$/.test(value),
  flag: (value) => typeof value === 'boolean',
  number: (value) => typeof value === 'number' && Number.isFinite(value),
  integer: (value) => Number.isSafeInteger(value),
  any: () => true,
};

/** Differences of a value from a shape; empty when there are none. */
export function differences(shape: AnswerShape, value: unknown, path = '$'): string[] {
  if (typeof shape === 'string') {
    const type = shape.endsWith('?') ? shape.slice(0, -1) : shape;
    if (value === null) return shape.endsWith('?') ? [] : [`${path} is null`];
    const isOf = TYPES[type] ?? ((one: unknown) => typeof one === 'string' && type.split('|').includes(one));
    return isOf(value) ? [] : [`${path} is ${JSON.stringify(value)}, not ${type}`];
  }
  if (Array.isArray(shape)) {
    if (!Array.isArray(value)) return [`${path} is not a list`];
    return value.flatMap((one, i) => differences((shape as readonly [AnswerShape])[0], one, `${path}[${i}]`));
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return [`${path} is not an object`];
  const names = new Map(
    Object.entries(shape).map(([name, inner]) => [
      name.replace(/\?$/, ''),
      { inner, isNeeded: !name.endsWith('?') },
    ]),
  );
  const any = names.get('*')?.inner;
  names.delete('*');
  const found = value as Readonly<Record<string, unknown>>;
  const missing = [...names].filter(([name, { isNeeded }]) => isNeeded && !Object.hasOwn(found, name));
  return [
    ...missing.map(([name]) => `${path}.${name} is missing`),
    ...Object.entries(found).flatMap(([name, one]) => {
      const inner = names.get(name)?.inner ?? any;
      return inner === undefined
        ? [`${path}.${name} is unknown`]
        : differences(inner, one, `${path}.${name}`);
    }),
  ];
}

const ORDER_STATUS =
  'new|partially_filled|filled|done_for_day|canceled|expired|replaced|pending_cancel|pending_replace|accepted|pending_new|' +
  'accepted_for_bidding|stopped|rejected|suspended|calculated|held';
const ORDER_TYPE = 'market|limit|stop|stop_limit|trailing_stop';
const POSITION_INTENT = 'buy_to_open|buy_to_close|sell_to_open|sell_to_close';

const orderOfAnyClass = {
  id: 'uuid',
  client_order_id: 'text',
  created_at: 'time',
  updated_at: 'time?',
  submitted_at: 'time?',
  filled_at: 'time?',
  expired_at: 'time?',
  'expires_at?': 'time',
  canceled_at: 'time?',
  failed_at: 'time?',
  replaced_at: 'time?',
  replaced_by: 'uuid?',
  replaces: 'uuid?',
  notional: 'decimal?',
  qty: 'decimal?',
  filled_qty: 'decimal',
  filled_avg_price: 'decimal?',
  order_class: 'simple|bracket|oco|oto|mleg|',
  order_type: ORDER_TYPE,
  type: ORDER_TYPE,
  time_in_force: 'day|gtc|opg|cls|ioc|fok',
  limit_price: 'decimal?',
  stop_price: 'decimal?',
  status: ORDER_STATUS,
  extended_hours: 'flag',
  trail_percent: 'decimal?',
  trail_price: 'decimal?',
  hwm: 'decimal?',
  'ratio_qty?': 'decimal?',
  // Sent, though not in the documents.
  'subtag?': 'text?',
  'source?': 'text?',
} as const;

const ofOneAsset = {
  symbol: 'text',
  asset_id: 'uuid',
  asset_class: 'us_equity|us_option',
  side: 'buy|sell',
  position_intent: POSITION_INTENT,
} as const;

/** An order without legs. */
const leaf = { ...orderOfAnyClass, ...ofOneAsset, legs: 'any?' } as const;
/** An order of one asset, with the exits that it brings. */
export const order: AnswerShape = { ...leaf, legs: 'any?' };
export const orderWithLegs: AnswerShape = { ...orderOfAnyClass, ...ofOneAsset, legs: [leaf] };
/** A multi-leg order has no asset, side and intent of its own. */
export const multiLegOrder: AnswerShape = { ...orderOfAnyClass, legs: [leaf] };

export const account: AnswerShape = {
  id: 'uuid',
  account_number: 'text',
  status: 'ACTIVE',
  crypto_status: 'INACTIVE',
  currency: 'USD',
  cash: 'decimal',
  portfolio_value: 'decimal',
  equity: 'decimal',
  last_equity: 'decimal',
  buying_power: 'decimal',
  regt_buying_power: 'decimal',
  options_buying_power: 'decimal',
  non_marginable_buying_power: 'decimal',
  initial_margin: 'decimal',
  maintenance_margin: 'decimal',
  last_maintenance_margin: 'decimal',
  sma: 'decimal',
  multiplier: 'decimal',
  long_market_value: 'decimal',
  short_market_value: 'decimal',
  accrued_fees: 'decimal',
  pending_transfer_in: 'decimal',
  pending_transfer_out: 'decimal',
  pending_reg_taf_fees: 'decimal',
  intraday_adjustments: 'decimal',
  'balance_asof?': 'date',
  shorting_enabled: 'flag',
  trading_blocked: 'flag',
  transfers_blocked: 'flag',
  account_blocked: 'flag',
  trade_suspended_by_user: 'flag',
  created_at: 'time',
  options_approved_level: 'integer',
  options_trading_level: 'integer',
  // While the rule on pattern day traders is in force.
  'pattern_day_trader?': 'flag',
  'daytrading_buying_power?': 'decimal',
  // Sent, though not in the documents.
  admin_configurations: {},
  user_configurations: 'any?',
  effective_buying_power: 'decimal',
  position_market_value: 'decimal',
  bod_dtbp: 'decimal',
};

export const configuration: AnswerShape = {
  suspend_trade: 'flag',
  no_shorting: 'flag',
  fractional_trading: 'flag',
  max_margin_multiplier: 'decimal',
  max_options_trading_level: 'integer',
  trade_confirm_email: 'all|none',
  ptp_no_exception_entry: 'flag',
  disable_overnight_trading: 'flag',
};

export const clock: AnswerShape = {
  timestamp: 'time',
  is_open: 'flag',
  next_open: 'time',
  next_close: 'time',
};

const market = { acronym: 'text', mic: 'text', name: 'text', timezone: 'text' };
export const clocks: AnswerShape = {
  clocks: [
    {
      market,
      timestamp: 'time',
      is_market_day: 'flag',
      phase: 'closed|pre|core|lunch|post',
      phase_until: 'time',
      next_market_open: 'time',
      next_market_close: 'time',
    },
  ],
};

export const calendar: AnswerShape = [
  {
    date: 'date',
    open: 'clock',
    close: 'clock',
    session_open: 'digits',
    session_close: 'digits',
    settlement_date: 'date',
  },
];

export const marketCalendar: AnswerShape = {
  market,
  calendar: [
    {
      date: 'date',
      pre_start: 'time',
      pre_end: 'time',
      core_start: 'time',
      core_end: 'time',
      post_start: 'time',
      post_end: 'time',
      settlement_date: 'date',
    },
  ],
};

export const asset: AnswerShape = {
  id: 'uuid',
  class: 'us_equity|us_option',
  cusip: 'text?',
  exchange: 'AMEX|ARCA|BATS|NYSE|NASDAQ|NYSEARCA|OTC',
  symbol: 'text',
  name: 'text',
  status: 'active|inactive',
  tradable: 'flag',
  marginable: 'flag',
  maintenance_margin_requirement: 'number',
  margin_requirement_long: 'decimal',
  margin_requirement_short: 'decimal',
  shortable: 'flag',
  easy_to_borrow: 'flag',
  borrow_status: 'easy_to_borrow|hard_to_borrow',
  fractionable: 'flag',
  attributes: ['text'],
  'price_increment?': 'decimal',
};

const watchlistHead = {
  id: 'uuid',
  account_id: 'uuid',
  name: 'text',
  created_at: 'time',
  updated_at: 'time',
} as const;
export const watchlists: AnswerShape = [watchlistHead];
export const watchlist: AnswerShape = { ...watchlistHead, assets: [asset] };

export const contract: AnswerShape = {
  id: 'uuid',
  symbol: 'text',
  name: 'text',
  status: 'active|inactive',
  tradable: 'flag',
  expiration_date: 'date',
  root_symbol: 'text',
  underlying_symbol: 'text',
  underlying_asset_id: 'uuid',
  type: 'call|put',
  style: 'american|european',
  strike_price: 'decimal',
  multiplier: 'decimal',
  size: 'decimal',
  open_interest: 'decimal',
  open_interest_date: 'date',
  close_price: 'decimal',
  close_price_date: 'date',
  'deliverables?': [
    {
      type: 'cash|equity',
      symbol: 'text',
      'asset_id?': 'uuid',
      amount: 'decimal',
      allocation_percentage: 'decimal',
      settlement_type: 'T+0|T+1|T+2|T+3|T+4|T+5',
      settlement_method: 'BTOB|CADF|CAFX|CCC',
      delayed_settlement: 'flag',
    },
  ],
};

export const contracts: AnswerShape = { option_contracts: [contract], next_page_token: 'text?' };

export const position: AnswerShape = {
  asset_id: 'uuid',
  symbol: 'text',
  exchange: 'AMEX|ARCA|BATS|NYSE|NASDAQ|NYSEARCA|OTC|',
  asset_class: 'us_equity|us_option',
  asset_marginable: 'flag',
  qty: 'decimal',
  qty_available: 'decimal',
  avg_entry_price: 'decimal',
  side: 'long|short',
  market_value: 'decimal',
  cost_basis: 'decimal',
  unrealized_pl: 'decimal',
  unrealized_plpc: 'decimal',
  unrealized_intraday_pl: 'decimal',
  unrealized_intraday_plpc: 'decimal',
  current_price: 'decimal',
  lastday_price: 'decimal',
  change_today: 'decimal',
};

export const canceled: AnswerShape = [{ id: 'uuid', status: 'integer' }];
export const closed: AnswerShape = [{ symbol: 'text', status: 'integer', body: order }];

const fill = {
  id: 'text',
  'account_id?': 'uuid',
  activity_type: 'FILL',
  net_amount: 'decimal',
  transaction_time: 'time',
  type: 'fill|partial_fill',
  price: 'decimal',
  qty: 'decimal',
  side: 'buy|sell|sell_short',
  symbol: 'text',
  leaves_qty: 'decimal',
  order_id: 'uuid',
  cum_qty: 'decimal',
  order_status: ORDER_STATUS,
} as const;
export const fills: AnswerShape = [fill];
export const otherActivities: AnswerShape = [
  {
    id: 'text',
    'account_id?': 'uuid',
    activity_type: 'text',
    date: 'date',
    created_at: 'time',
    net_amount: 'decimal',
    currency: 'text',
    'activity_sub_type?': 'text',
    description: 'text',
    'symbol?': 'text',
    'qty?': 'decimal',
    'price?': 'decimal',
    'per_share_amount?': 'decimal',
    status: 'executed|correct|canceled',
  },
];

export const portfolioHistory: AnswerShape = {
  timestamp: ['integer'],
  equity: ['number'],
  profit_loss: ['number'],
  profit_loss_pct: ['number?'],
  base_value: 'number',
  base_value_asof: 'date',
  timeframe: 'text',
  cashflow: { '*': ['number'] },
};

export const announcement: AnswerShape = {
  id: 'text',
  corporate_action_id: 'text',
  ca_type: 'dividend|merger|spinoff|split',
  ca_sub_type: 'text',
  initiating_symbol: 'text',
  initiating_original_cusip: 'text',
  target_symbol: 'text',
  target_original_cusip: 'text',
  'declaration_date?': 'date',
  ex_date: 'date',
  'record_date?': 'date',
  payable_date: 'date',
  cash: 'decimal',
  old_rate: 'decimal',
  new_rate: 'decimal',
};

const action = {
  id: 'uuid',
  symbol: 'text',
  ex_date: 'date',
  process_date: 'date',
  'payable_date?': 'date',
} as const;
const rates = { old_rate: 'number', new_rate: 'number' } as const;
const processed = { id: 'uuid', process_date: 'date', payable_date: 'date' } as const;
const merger = {
  ...processed,
  acquiree_symbol: 'text',
  acquiree_cusip: 'text',
  effective_date: 'date',
} as const;
const acquirer = {
  acquirer_symbol: 'text',
  acquirer_cusip: 'text',
  acquirer_rate: 'number',
  acquiree_rate: 'number',
} as const;
export const corporateActions: AnswerShape = {
  corporate_actions: {
    'cash_dividends?': [{ ...action, cusip: 'text', rate: 'number', special: 'flag', foreign: 'flag' }],
    'forward_splits?': [{ ...action, ...rates, cusip: 'text' }],
    'reverse_splits?': [{ ...action, ...rates, old_cusip: 'text', new_cusip: 'text' }],
    'stock_dividends?': [{ ...action, cusip: 'text', rate: 'number' }],
    'spin_offs?': [
      {
        ...processed,
        ex_date: 'date',
        source_symbol: 'text',
        source_cusip: 'text',
        source_rate: 'number',
        new_symbol: 'text',
        new_cusip: 'text',
        new_rate: 'number',
      },
    ],
    'cash_mergers?': [{ ...merger, rate: 'number' }],
    'stock_mergers?': [{ ...merger, ...acquirer }],
    'stock_and_cash_mergers?': [{ ...merger, ...acquirer, cash_rate: 'number' }],
    'name_changes?': [
      {
        id: 'uuid',
        old_symbol: 'text',
        old_cusip: 'text',
        new_symbol: 'text',
        new_cusip: 'text',
        process_date: 'date',
      },
    ],
    'worthless_removals?': [{ id: 'uuid', symbol: 'text', cusip: 'text', process_date: 'date' }],
  },
  next_page_token: 'text?',
};

const bar = {
  t: 'time',
  o: 'number',
  h: 'number',
  l: 'number',
  c: 'number',
  v: 'integer',
  n: 'integer',
  vw: 'number',
} as const;
const sides = { bp: 'number', bs: 'integer', bx: 'text', ap: 'number', as: 'integer', ax: 'text' } as const;
const quote = { ...sides, t: 'time', c: ['text'], z: 'A|B|C|N|O' } as const;
const trade = {
  t: 'time',
  x: 'text',
  p: 'number',
  s: 'integer',
  c: ['text'],
  i: 'integer',
  z: 'A|B|C|N|O',
} as const;
const optionQuote = { ...sides, t: 'time', c: 'text' } as const;
const optionTrade = { t: 'time', x: 'text', p: 'number', s: 'integer', c: 'text' } as const;
const auction = { t: 'time', x: 'text', p: 'number', c: 'text' } as const;
const auctionDay = { d: 'date', o: [auction], c: [auction] } as const;

/** Market data of one symbol, of several, and the latest of either. */
const series = (name: string, one: AnswerShape) => ({
  ofOne: { symbol: 'text', [name]: [one], next_page_token: 'text?' } as AnswerShape,
  ofMany: { [name]: { '*': [one] }, next_page_token: 'text?' } as AnswerShape,
});
const latest = (name: string, one: AnswerShape) => ({
  ofOne: { symbol: 'text', [name.slice(0, -1)]: one } as AnswerShape,
  ofMany: { [name]: { '*': one } } as AnswerShape,
});

export const bars = series('bars', bar);
export const quotes = series('quotes', quote);
export const trades = series('trades', trade);
export const auctions = series('auctions', auctionDay);
export const optionTrades = series('trades', optionTrade);
export const latestBars = latest('bars', bar);
export const latestQuotes = latest('quotes', quote);
export const latestTrades = latest('trades', trade);
export const latestOptionQuotes = latest('quotes', optionQuote);
export const latestOptionTrades = latest('trades', optionTrade);

const snapshotParts = {
  latestTrade: trade,
  latestQuote: quote,
  minuteBar: bar,
  dailyBar: bar,
  prevDailyBar: bar,
} as const;
export const snapshot: AnswerShape = { symbol: 'text', ...snapshotParts };
export const snapshots: AnswerShape = { '*': snapshotParts };
export const optionSnapshots: AnswerShape = {
  snapshots: {
    '*': {
      'latestTrade?': optionTrade,
      latestQuote: optionQuote,
      'impliedVolatility?': 'number',
      'greeks?': { delta: 'number', gamma: 'number', theta: 'number', vega: 'number', rho: 'number' },
    },
  },
  next_page_token: 'text?',
};

export const codes: AnswerShape = { '*': 'text' };
const mover = { symbol: 'text', price: 'number', change: 'number', percent_change: 'number' } as const;
export const movers: AnswerShape = {
  gainers: [mover],
  losers: [mover],
  market_type: 'stocks|crypto',
  last_updated: 'text',
};
export const mostActives: AnswerShape = {
  most_actives: [{ symbol: 'text', volume: 'integer', trade_count: 'integer' }],
  last_updated: 'text',
};
const indexValue = { t: 'time', v: 'number' } as const;
export const latestIndexValues: AnswerShape = { values: { '*': indexValue } };
export const indexValues: AnswerShape = { values: { '*': [indexValue] }, next_page_token: 'text?' };
export const news: AnswerShape = { news: ['any'], next_page_token: 'text?' };
