/** The published npm client, unmodified, against a port of a real server. */
import { type Contract, EventName, IBApi, OrderAction, OrderType, SecType } from '@stoqey/ib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTwsAccount, type TwsAccount } from './account.js';

let opened: TwsAccount;
let ib: IBApi;
let nextId = 0;
const errors: string[] = [];

type Args = readonly unknown[];

/** The client as the emitter of any of its events. */
const events = (): {
  on(event: EventName, listener: (...args: never[]) => void): unknown;
  off(event: EventName, listener: (...args: never[]) => void): unknown;
} => ib as never;

/** The arguments of the next event that a test accepts, after an action. */
function after(
  event: EventName,
  action: () => void,
  accepts: (...args: readonly never[]) => boolean = () => true,
): Promise<Args> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`no ${event}; errors: ${errors.join('; ')}`)), 4000);
    const listen = (...args: never[]): void => {
      if (!accepts(...args)) return;
      clearTimeout(late);
      events().off(event, listen);
      resolve(args);
    };
    events().on(event, listen);
    action();
  });
}

beforeAll(async () => {
  opened = await openTwsAccount({ config: { feed: 'synthetic' } });
  ib = new IBApi({ host: '127.0.0.1', port: opened.port, clientId: 5 });
  ib.on(EventName.error, (error, code: number) => {
    if (code < 2100 || code > 2200) errors.push(`${code} ${error.message}`);
  });
  const [id] = await after(EventName.nextValidId, () => ib.connect());
  nextId = id as number;
});

afterAll(async () => {
  ib.disconnect();
  await opened.test.close();
});

const apple: Contract = { symbol: 'AAPL', secType: SecType.STK, exchange: 'SMART', currency: 'USD' };
const limit = (price: number) => ({
  action: OrderAction.BUY,
  orderType: OrderType.LMT,
  totalQuantity: 10,
  lmtPrice: price,
  transmit: true,
});

it('connects: server version 178, the account, the time', async () => {
  expect(ib.serverVersion).toBe(178);
  const [accounts] = await after(EventName.managedAccounts, () => ib.reqManagedAccts());
  expect(accounts).toBe('DU0000001');
  const [time] = await after(EventName.currentTime, () => ib.reqCurrentTime());
  expect(time).toBe(Date.parse('2026-01-05T15:00:00Z') / 1000);
});

it('contracts: details, option parameters, a chain, samples, a price rule', async () => {
  const [, details] = await after(EventName.contractDetails, () => ib.reqContractDetails(1, apple));
  expect(details).toMatchObject({
    contract: { conId: 265598, symbol: 'AAPL' },
    timeZoneId: 'US/Eastern',
    minTick: 0.01,
  });
  const parameters = await after(EventName.securityDefinitionOptionParameter, () =>
    ib.reqSecDefOptParams(2, 'AAPL', '', SecType.STK, 265598),
  );
  const [, exchange, conId, , multiplier, expirations, strikes] = parameters as [
    number,
    string,
    number,
    string,
    string,
    string[],
    number[],
  ];
  expect([exchange, conId, Number(multiplier)]).toEqual(['SMART', 265598, 100]);
  const chain: unknown[] = [];
  const collect = (reqId: number, one: unknown): void => {
    if (reqId === 3) chain.push(one);
  };
  ib.on(EventName.contractDetails, collect);
  await after(EventName.contractDetailsEnd, () =>
    ib.reqContractDetails(3, {
      ...apple,
      secType: SecType.OPT,
      lastTradeDateOrContractMonth: expirations[0] ?? '',
    }),
  );
  expect(chain.length).toBeGreaterThan(20);
  expect(strikes.length).toBeGreaterThan(10);
  const [, samples] = await after(EventName.symbolSamples, () => ib.reqMatchingSymbols(4, 'AAP'));
  expect(samples).toContainEqual(
    expect.objectContaining({ contract: expect.objectContaining({ symbol: 'AAPL' }) as unknown }),
  );
  const [, steps] = await after(EventName.marketRule, () => ib.reqMarketRule(26));
  expect(steps).toEqual([
    { lowEdge: 0, increment: 0.0001 },
    { lowEdge: 1, increment: 0.01 },
  ]);
});

it('orders: a market order with execution and commission, a limit order that is changed and canceled', async () => {
  const id = (nextId += 1);
  const executed = after(EventName.execDetails, () => undefined);
  const charged = after(EventName.commissionReport, () => undefined);
  await after(
    EventName.orderStatus,
    () =>
      ib.placeOrder(id, apple, {
        action: OrderAction.BUY,
        orderType: OrderType.MKT,
        totalQuantity: 3,
        transmit: true,
      }),
    (orderId: number, status: string) => orderId === id && status === 'Filled',
  );
  const [, , execution] = await executed;
  expect(execution).toMatchObject({
    side: 'BOT',
    shares: 3,
    acctNumber: 'DU0000001',
    orderId: id,
    clientId: 5,
  });
  expect((await charged)[0]).toMatchObject({
    execId: (execution as { execId: string }).execId,
    currency: 'USD',
  });
  const resting = (nextId += 1);
  const isOwn = (orderId: number): boolean => orderId === resting;
  const [, contract, order, state] = await after(
    EventName.openOrder,
    () => ib.placeOrder(resting, apple, limit(10)),
    isOwn,
  );
  expect([contract, order, state]).toMatchObject([
    { conId: 265598 },
    { lmtPrice: 10, tif: 'DAY' },
    { status: 'Submitted' },
  ]);
  const [, , changed] = await after(
    EventName.openOrder,
    () => ib.placeOrder(resting, apple, limit(11)),
    isOwn,
  );
  expect(changed).toMatchObject({ lmtPrice: 11 });
  await after(EventName.openOrderEnd, () => ib.reqAllOpenOrders());
  await after(
    EventName.orderStatus,
    () => ib.cancelOrder(resting),
    (orderId: number, status: string) => orderId === resting && status === 'Cancelled',
  );
  await after(EventName.execDetailsEnd, () => ib.reqExecutions(9, {}));
  const completed = await after(EventName.completedOrder, () => ib.reqCompletedOrders(false));
  expect(completed[2]).toMatchObject({ completedStatus: expect.any(String) as unknown });
});

it('whatIf: an open order with requirements and commission', async () => {
  const id = (nextId += 1);
  const [, , order, state] = await after(
    EventName.openOrder,
    () =>
      ib.placeOrder(id, apple, {
        action: OrderAction.BUY,
        orderType: OrderType.MKT,
        totalQuantity: 10,
        whatIf: true,
      }),
    (orderId: number) => orderId === id,
  );
  expect(order).toMatchObject({ whatIf: true });
  const { initMarginBefore, initMarginChange, initMarginAfter } = state as Record<string, number>;
  expect((initMarginBefore ?? 0) + (initMarginChange ?? 0)).toBeCloseTo(initMarginAfter ?? NaN, 2);
  expect(initMarginChange).toBeGreaterThan(0);
});

it('combos: a vertical spread by the numbers of its contracts, filled with a summary and its legs', async () => {
  const [, , , , , expirations] = await after(EventName.securityDefinitionOptionParameter, () =>
    ib.reqSecDefOptParams(20, 'AAPL', '', SecType.STK, 265598),
  );
  const chain: { contract: Contract }[] = [];
  const collect = (reqId: number, one: unknown): void => {
    if (reqId === 21) chain.push(one as { contract: Contract });
  };
  ib.on(EventName.contractDetails, collect);
  const expiry = (expirations as string[])[2] ?? '';
  await after(EventName.contractDetailsEnd, () =>
    ib.reqContractDetails(21, {
      ...apple,
      secType: SecType.OPT,
      lastTradeDateOrContractMonth: expiry,
      right: 'C' as never,
    }),
  );
  const middle = Math.floor(chain.length / 2);
  const leg = (at: number, action: OrderAction) => ({
    conId: chain[at]?.contract.conId ?? 0,
    ratio: 1,
    action,
    exchange: 'SMART',
  });
  const bag: Contract = {
    ...apple,
    secType: SecType.BAG,
    comboLegs: [leg(middle, OrderAction.BUY), leg(middle + 1, OrderAction.SELL)],
  };
  const id = (nextId += 1);
  const sides: string[] = [];
  ib.on(EventName.execDetails, (_reqId, contract, execution) => {
    if (execution.orderId === id) sides.push(`${contract.secType} ${execution.side}`);
  });
  await after(
    EventName.orderStatus,
    () =>
      ib.placeOrder(id, bag, {
        action: OrderAction.BUY,
        orderType: OrderType.MKT,
        totalQuantity: 2,
        transmit: true,
      }),
    (orderId: number, status: string) => orderId === id && status === 'Filled',
  );
  expect(sides).toEqual(['BAG BOT', 'OPT BOT', 'OPT SLD']);
});

it('account: positions, values, summary, profit', async () => {
  const [account, contract, position] = await after(EventName.position, () => ib.reqPositions());
  expect([account, (contract as Contract).symbol, position]).toEqual(['DU0000001', 'AAPL', 3]);
  await after(EventName.accountDownloadEnd, () => ib.reqAccountUpdates(true, 'DU0000001'));
  const [, , tag, value] = await after(EventName.accountSummary, () =>
    ib.reqAccountSummary(10, 'All', 'NetLiquidation'),
  );
  expect([tag, Number(value) > 90_000]).toEqual(['NetLiquidation', true]);
  expect((await after(EventName.pnl, () => ib.reqPnL(11, 'DU0000001', '')))[0]).toBe(11);
  expect((await after(EventName.pnlSingle, () => ib.reqPnLSingle(12, 'DU0000001', '', 265598)))[1]).toBe(3);
  await after(EventName.accountUpdateMultiEnd, () => ib.reqAccountUpdatesMulti(13, 'DU0000001', '', false));
  await after(EventName.positionMultiEnd, () => ib.reqPositionsMulti(14, 'DU0000001', ''));
});

it('market data: ticks, a snapshot, bars of a day, ticks one by one', async () => {
  const [reqId] = await after(EventName.tickPrice, () => ib.reqMktData(30, apple, '221,233', false, false));
  expect(reqId).toBe(30);
  ib.cancelMktData(30);
  await after(EventName.tickSnapshotEnd, () => ib.reqMktData(31, apple, '', true, false));
  const bars: unknown[][] = [];
  const collect = (...bar: unknown[]): void => {
    if (bar[0] === 32) bars.push(bar);
  };
  ib.on(EventName.historicalData, collect);
  await after(
    EventName.historicalData,
    () => ib.reqHistoricalData(32, apple, '', '5 D', '1 day' as never, 'TRADES', 1, 1, false),
    (_id: number, time: string) => time.startsWith('finished'),
  );
  expect(bars.map(([, time]) => time).slice(0, 4)).toEqual(['20251229', '20251230', '20251231', '20260102']);
  await after(EventName.tickByTickBidAsk, () => ib.reqTickByTickData(33, apple, 'BidAsk' as never, 0, false));
  const refused = await after(
    EventName.info,
    () => ib.reqScannerParameters(),
    (_text: string, code: number) => code === 321,
  );
  expect(refused[0]).toBe('Scanner parameters: not available at Sandpit');
});

it('nothing else was reported as an error by the client', () => {
  expect(errors.filter((error) => !/^(202|321) /.test(error))).toEqual([]);
});
