import { describe, expect, it } from 'vitest';
import { CreateAccountBody, UpdateAccountBody } from './accounts.js';
import { RequirementsBody } from './margin.js';
import { QuotesBody } from './market-data.js';
import { CreatePortfolioBody, MarginUpgradeBody, SwitchBrokerBody, TransferBody } from './portfolios.js';
import {
  AdvanceClockBody,
  CorporateActionsBody,
  ListInstrumentsBody,
  PushQuotesBody,
  SetClockBody,
} from './simulation.js';
import { CreateSimulationBody } from './simulations.js';
import { PortfolioStreamQuery } from './streams.js';
import { validateBody, validateTexts } from './validate.js';

const accountId = '0192f0c1-6e01-7d2a-8f3e-9a4c51d0b7aa';

function judge(schema: Parameters<typeof validateBody>[0], body: unknown): string[] {
  const result = validateBody(schema, body);
  return result.ok ? [] : result.messages;
}

describe('CreatePortfolioBody', () => {
  const cash = { accountId, portfolioType: 'CASH', accountType: 'INDIVIDUAL', brokerId: 'default' };
  const margin = { ...cash, portfolioType: 'MARGIN' };

  it.each<[string, object, string[]]>([
    ['cash', cash, []],
    ['margin', margin, []],
    ['portfolio margin', { ...margin, marginType: 'PORTFOLIO', portfolioMarginEngineType: 'SPAN' }, []],
    ['additions', { ...cash, initialCash: 1e9, name: 'Mine', fillModel: 'ideal' }, []],
    ['a retirement account in cash', { ...cash, accountType: 'ROTH_IRA' }, []],
    [
      'a retirement account on margin',
      { ...margin, accountType: 'IRA' },
      ['IRA and ROTH_IRA accounts must use CASH portfolios'],
    ],
    [
      'a margin type in cash',
      { ...cash, marginType: 'REG_T' },
      ['marginType is not allowed for CASH portfolios'],
    ],
    [
      'an engine in cash',
      { ...cash, portfolioMarginEngineType: 'TIMS' },
      ['portfolioMarginEngineType is not allowed for CASH portfolios'],
    ],
    [
      'an engine on Regulation T',
      { ...margin, marginType: 'REG_T', portfolioMarginEngineType: 'TIMS' },
      ['portfolioMarginEngineType is only allowed for PORTFOLIO margin'],
    ],
    [
      'everything wrong',
      {
        accountId: 'x',
        portfolioType: 'cash',
        accountType: 'JOINT',
        brokerId: '',
        marginType: 1,
        initialCash: 0,
      },
      [
        'accountId must be a UUID',
        'portfolioType must be CASH or MARGIN',
        'accountType must be one of INDIVIDUAL, IRA, ROTH_IRA',
        'brokerId should not be empty',
        'marginType must be REG_T or PORTFOLIO',
        'initialCash must be a positive number',
      ],
    ],
    [
      'a fraction of a cent',
      { ...cash, initialCash: 1.001 },
      ['initialCash must have at most 2 decimal places'],
    ],
    ['too much', { ...cash, initialCash: 1e9 + 1 }, ['initialCash must not be greater than 1000000000']],
    ['no broker', { ...cash, brokerId: undefined }, ['brokerId must be a string']],
    ['any broker: the list is checked later', { ...cash, brokerId: 'nobody' }, []],
  ])('validates %s', (_, body, expected) => {
    expect(judge(CreatePortfolioBody, body)).toEqual(expected);
  });
});

describe('Bodies of portfolio changes', () => {
  it('MarginUpgradeBody: requires a margin type, and an engine for PORTFOLIO only', () => {
    expect(
      judge(MarginUpgradeBody, { marginType: 'PORTFOLIO', portfolioMarginEngineType: 'SIMPLE' }),
    ).toEqual([]);
    expect(
      judge(MarginUpgradeBody, { addPromotionalCash: 'yes', portfolioMarginEngineType: 'SIMPLE' }),
    ).toEqual([
      'marginType must be REG_T or PORTFOLIO',
      'portfolioMarginEngineType is only allowed for PORTFOLIO margin',
      'addPromotionalCash must be a boolean',
    ]);
  });

  it('SwitchBrokerBody: requires a broker', () => {
    expect(judge(SwitchBrokerBody, {})).toEqual(['brokerId must be a string']);
  });

  it('TransferBody: requires an amount in cents, not 0 and within its limits', () => {
    expect(judge(TransferBody, { amount: -50.25 })).toEqual([]);
    expect(judge(TransferBody, { amount: 0 })).toEqual(['amount must not be 0']);
    expect(judge(TransferBody, { amount: 0.001 })).toEqual(['amount must have at most 2 decimal places']);
    expect(judge(TransferBody, { amount: -1e10 })).toEqual(['amount must not be less than -1000000000']);
  });
});

describe('Bodies of accounts', () => {
  it('CreateAccountBody: accepts an empty body and refuses margin for retirement accounts', () => {
    expect(judge(CreateAccountBody, {})).toEqual([]);
    expect(judge(CreateAccountBody, { accountType: 'IRA', portfolioType: 'MARGIN' })).toEqual([
      'IRA and ROTH_IRA accounts must use CASH portfolios',
    ]);
    expect(judge(CreateAccountBody, { id: accountId })).toEqual(['property id should not exist']);
  });

  it('UpdateAccountBody: requires at least one name and refuses other fields', () => {
    expect(judge(UpdateAccountBody, { firstName: 'Ada' })).toEqual([]);
    expect(judge(UpdateAccountBody, {})).toEqual([
      'body must contain at least one of name, firstName, lastName',
    ]);
    expect(judge(UpdateAccountBody, { name: 'x', status: 'FROZEN' })).toEqual([
      'property status should not exist',
    ]);
  });
});

describe('Bodies of market data', () => {
  it('QuotesBody: requires 1 to 50 symbols', () => {
    expect(judge(QuotesBody, { symbols: ['AAPL'] })).toEqual([]);
    expect(judge(QuotesBody, { symbols: [] })).toEqual(['symbols must contain 1 to 50 elements']);
    expect(judge(QuotesBody, { symbols: Array(51).fill('A') })).toEqual([
      'symbols must contain 1 to 50 elements',
    ]);
    expect(judge(QuotesBody, { symbols: ['', 1] })).toEqual([
      'symbols.0 should not be empty',
      'symbols.1 must be a string',
    ]);
  });
});

describe('Bodies of simulation control', () => {
  it('PushQuotesBody: accepts quotes and reports each invalid field', () => {
    const quote = { symbol: 'AAPL', bid: 10, ask: 10.05 };
    expect(judge(PushQuotesBody, { quotes: [quote] })).toEqual([]);
    expect(
      judge(PushQuotesBody, {
        quotes: [{ ...quote, bid: 0, bidSize: 0, last: 10, timestamp: 1767623400000 }],
      }),
    ).toEqual([]);
    expect(judge(PushQuotesBody, { quotes: [{ ...quote, timestamp: '2026-01-05T14:30:00Z' }] })).toEqual([]);
    expect(judge(PushQuotesBody, { quotes: [{ ...quote, bid: 11, askSize: -1, timestamp: 'now' }] })).toEqual(
      [
        'quotes.0.bid must not be greater than ask',
        'quotes.0.askSize must be a non-negative number',
        'quotes.0.timestamp must be epoch milliseconds or an ISO 8601 timestamp with a zone',
      ],
    );
    expect(judge(PushQuotesBody, { quotes: [{}] })).toEqual([
      'quotes.0.symbol must be a string',
      'quotes.0.bid must be a non-negative number',
      'quotes.0.ask must be a positive number',
    ]);
  });

  it('SetClockBody, AdvanceClockBody: require a target', () => {
    expect(judge(SetClockBody, { now: '2026-01-05T14:30:00Z', speed: 60 })).toEqual([]);
    expect(judge(SetClockBody, {})).toEqual(['body must contain at least one of now, speed']);
    expect(judge(AdvanceClockBody, { by: 'PT1H' })).toEqual([]);
    expect(judge(AdvanceClockBody, { to: '2026-01-06T14:30:00Z' })).toEqual([]);
    expect(judge(AdvanceClockBody, {})).toEqual(['to or by or until must be given']);
    expect(judge(AdvanceClockBody, { to: '2026-01-06T14:30:00Z', by: 'PT1H' })).toEqual([
      'by should not exist together with to',
    ]);
  });

  it('instruments are checked by their asset class', () => {
    const future = {
      assetClass: 'FUTURE',
      symbol: 'ESH26',
      multiplier: 50,
      tickSize: 0.25,
      lastTradeDate: '2026-03-20',
      initialMargin: 20000,
      maintenanceMargin: 18000,
    };
    const instruments = [
      { assetClass: 'EQUITY', symbol: 'XYZ', leverageFactor: -3, shortable: false, borrowRateAnnual: 0.05 },
      { assetClass: 'OPTION', symbol: 'XYZ260116C00010000' },
      { assetClass: 'OPTION', underlying: 'XYZ', optionType: 'PUT', strike: 10, expiration: '2026-01-16' },
      future,
      { assetClass: 'INDEX', symbol: 'SPX', name: 'S&P 500' },
    ];
    expect(judge(ListInstrumentsBody, { instruments })).toEqual([]);
    expect(
      judge(ListInstrumentsBody, {
        instruments: [
          { assetClass: 'BOND' },
          { assetClass: 'EQUITY', symbol: 'XYZ', strike: 3 },
          { assetClass: 'OPTION', underlying: 'XYZ' },
          'XYZ',
          { ...future, lastTradeDate: 'soon' },
        ],
      }),
    ).toEqual([
      'instruments.0.assetClass must be one of EQUITY, OPTION, FUTURE, INDEX',
      'property instruments.1.strike should not exist',
      'instruments.2.optionType must be CALL or PUT',
      'instruments.2.strike must be a positive number',
      'instruments.2.expiration must be a date, YYYY-MM-DD',
      'instruments.3 must be an object',
      'instruments.4.lastTradeDate must be a date, YYYY-MM-DD',
    ]);
  });

  it('corporate actions are checked by their type', () => {
    const split = { type: 'SPLIT', symbol: 'XYZ', exDate: '2026-03-02', ratio: { new: 2, old: 1 } };
    const dividend = {
      type: 'CASH_DIVIDEND',
      symbol: 'XYZ',
      exDate: '2026-03-02',
      payDate: '2026-03-16',
      amountPerShare: 0.24,
    };
    expect(judge(CorporateActionsBody, { actions: [split, dividend] })).toEqual([]);
    expect(
      judge(CorporateActionsBody, {
        actions: [
          { ...split, ratio: { new: 0 } },
          { ...dividend, payDate: '2026-03-01' },
          { ...split, amountPerShare: 1 },
          { type: 'RIGHTS' },
        ],
      }),
    ).toEqual([
      'actions.0.ratio.new must be a positive number',
      'actions.0.ratio.old must be a positive number',
      'actions.1.payDate must not be before exDate',
      'property actions.2.amountPerShare should not exist',
      'actions.3.type must be one of SPLIT, CASH_DIVIDEND, SPECIAL_DIVIDEND, STOCK_DIVIDEND, SYMBOL_CHANGE, SPIN_OFF, MERGER, DELISTING',
    ]);
  });

  it('corporate actions: each kind takes its own fields and no others', () => {
    const of = { symbol: 'XYZ', exDate: '2026-03-02' };
    const actions = [
      { type: 'SPECIAL_DIVIDEND', ...of, cashPerShare: 15, payDate: '2026-03-20' },
      { type: 'STOCK_DIVIDEND', ...of, rate: 0.1 },
      { type: 'SYMBOL_CHANGE', ...of, newSymbol: 'NEW' },
      { type: 'SPIN_OFF', ...of, newSymbol: 'NEW', ratio: { new: 1, old: 3 }, basisPercent: 23.4831 },
      { type: 'SPIN_OFF', ...of, newSymbol: 'NEW', ratio: 0.241917, basisPercent: 99.9999 },
      { type: 'MERGER', ...of, newSymbol: 'NEW', ratio: 1.437, cashPerShare: 53.75 },
      { type: 'MERGER', ...of, cashPerShare: 95 },
      { type: 'DELISTING', ...of, cashPerShare: 0 },
    ];
    expect(judge(CorporateActionsBody, { actions })).toEqual([]);
    expect(
      judge(CorporateActionsBody, {
        actions: [
          { type: 'STOCK_DIVIDEND', ...of, rate: 0 },
          { type: 'SPIN_OFF', ...of, newSymbol: 'NEW', ratio: 0, basisPercent: 100 },
          { type: 'MERGER', ...of },
          { type: 'MERGER', ...of, newSymbol: 'NEW' },
          { type: 'DELISTING', ...of },
          { type: 'SYMBOL_CHANGE', ...of, newSymbol: 'NEW', ratio: 1 },
        ],
      }),
    ).toEqual([
      'actions.0.rate must be a positive number',
      'actions.1.ratio must be a positive number with up to 6 decimals, or { new, old } of whole numbers',
      'actions.1.basisPercent must be less than 100',
      'actions.2.cashPerShare must be given, or newSymbol with ratio',
      'actions.3.ratio must be given together with newSymbol',
      'actions.4.cashPerShare must be a non-negative number',
      'property actions.5.ratio should not exist',
    ]);
  });

  it('CreateSimulationBody: accepts settings and reports each invalid field', () => {
    expect(
      judge(CreateSimulationBody, { feed: 'push', clock: 'manual', start: '2026-01-05T14:30:00Z', seed: 7 }),
    ).toEqual([]);
    expect(
      judge(CreateSimulationBody, {
        feed: 'replay',
        clock: 'scaled',
        speed: 60,
        replay: 'sample',
        seed: 's',
      }),
    ).toEqual([]);
    expect(
      judge(CreateSimulationBody, {
        feed: 'push',
        clock: 'wall',
        start: '2026-01-05',
        speed: 2,
        seed: 1.5,
        replay: 'x',
      }),
    ).toEqual([
      'start should not exist for wall clocks',
      'speed should not exist for wall clocks',
      'seed must be a string or an integer',
      'replay should not exist for push feeds',
    ]);
  });

  it('CreateSimulationBody: a mask of the wrong type gets one message on a wall clock too', () => {
    const masked = (mask: unknown) => judge(CreateSimulationBody, { feed: 'replay', clock: 'wall', mask });
    for (const mask of [null, [], 'dates', 1])
      expect(masked(mask)).toEqual(['mask must be a boolean or an object']);
    for (const mask of [true, {}, { dates: true }])
      expect(masked(mask)).toEqual(['mask must not move dates on wall clocks']);
    for (const mask of [false, { dates: false }]) expect(masked(mask)).toEqual([]);
  });
});

describe('RequirementsBody', () => {
  it('accepts hypothetical positions and reports each invalid field', () => {
    const body = {
      marginType: 'REG_T',
      positions: [
        { symbol: 'AAPL', quantity: -100, averagePrice: 180 },
        { optionSymbol: 'AAPL260116C00150000', quantity: 1 },
      ],
      prices: { AAPL: 190, AAPL260116C00150000: 0 },
    };
    expect(judge(RequirementsBody, body)).toEqual([]);
    expect(
      judge(RequirementsBody, {
        ...body,
        portfolioMarginEngineType: 'TIMS',
        positions: [{ quantity: 0 }, { symbol: 'A', optionSymbol: 'B', quantity: '1' }],
        prices: { AAPL: -1 },
        volatilities: [],
      }),
    ).toEqual([
      'portfolioMarginEngineType is only allowed for PORTFOLIO margin',
      'positions.0.symbol or optionSymbol must be given',
      'positions.0.quantity must not be 0',
      'positions.1.optionSymbol should not exist together with symbol',
      'positions.1.quantity must be a number',
      'prices.AAPL must be a non-negative number',
      'volatilities must be an object',
    ]);
  });
});

describe('PortfolioStreamQuery', () => {
  it('requires either an account or a portfolio', () => {
    const judgeQuery = (query: unknown): string[] => {
      const result = validateTexts(PortfolioStreamQuery, query);
      return result.ok ? [] : result.messages;
    };
    expect(judgeQuery({ accountId })).toEqual([]);
    expect(judgeQuery({ portfolioId: accountId, ticket: 't' })).toEqual([]);
    expect(judgeQuery({})).toEqual(['accountId or portfolioId must be given']);
    expect(judgeQuery({ accountId, portfolioId: accountId })).toEqual([
      'portfolioId should not exist together with accountId',
    ]);
    expect(judgeQuery({ portfolioIds: `${accountId},${accountId}` })).toEqual([]);
    expect(judgeQuery({ portfolioIds: `${accountId},` })).toEqual([
      'portfolioIds must be 1 to 100 UUIDs, separated by commas',
    ]);
    expect(judgeQuery({ portfolioIds: accountId, accountId })).toEqual([
      'portfolioIds should not exist together with accountId or portfolioId',
    ]);
  });
});
