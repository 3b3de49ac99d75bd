import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type Body,
  openPortfolio,
  placeOrder,
  pushQuote,
  TestApp,
  type TestClient,
} from '../testing/test-app.js';

let test: TestApp;
let client: TestClient;
let portfolioId: string;

beforeEach(async () => {
  test = await TestApp.open();
  client = test.as();
  for (const [symbol, price] of [
    ['AAPL', 200],
    ['MSFT', 400],
    ['BRK.B', 450],
    ['AAPL260220C00150000', 50],
  ] as const)
    await pushQuote(client, { symbol, bid: price, ask: price, last: price });
  portfolioId = String((await openPortfolio(client)).portfolioId);
});
afterEach(() => test.close());

const url = (what = ''): string => `/v1/accounts/portfolios/${portfolioId}${what}`;
const csv = (text: string, query = ''): Promise<Body> => send(text, query, 'text/csv');

async function send(text: string, query: string, contentType: string): Promise<Body> {
  const { status, body } = await client.inject({
    method: 'POST',
    url: `${url('/import')}${query}`,
    payload: text,
    headers: { 'content-type': contentType },
  });
  return { status, ...body };
}

/** `symbol quantity at price`, lot by lot. */
const lotsOf = ({ positions }: Body): string[] =>
  (positions as { symbol: string; quantity: number; price: number }[]).map(
    ({ symbol, quantity, price }) => `${symbol} ${quantity} at ${price}`,
  );

describe('importPositions (D206)', () => {
  it('enters cash and lots, and shows them in positions, ledger, activities and tax lots', async () => {
    const answer = await client.post(url('/import'), {
      cash: 2500,
      positions: [
        {
          symbol: 'aapl',
          quantity: 30,
          lots: [
            { quantity: 10, price: 120.5, acquiredAt: '2024-03-01' },
            { quantity: 20, price: 150, acquiredAt: '2025-06-02T15:00:00Z' },
          ],
        },
        { symbol: 'MSFT', quantity: -5 },
      ],
    });
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({ portfolioId, cash: 2500, skipped: [] });
    expect(lotsOf(answer.body)).toEqual(['AAPL 10 at 120.5', 'AAPL 20 at 150', 'MSFT -5 at 400']);
    const detail = (await client.get(url())).body;
    expect(detail).toMatchObject({ totalEquity: 100_000 + 2500 + 6000 - 2000 });
    const { body: equities } = await client.get(url('/equities'));
    expect(equities).toMatchObject([
      { symbol: 'AAPL', settledQuantity: 30, costBasis: 4205 },
      { symbol: 'MSFT', settledQuantity: -5 },
    ]);
    const { body: ledger } = await client.get(url('/ledger'));
    expect((ledger.data as Body[]).map(({ type, description }) => `${type}: ${description}`)).toEqual(
      expect.arrayContaining([
        'IMPORT: Imported cash',
        'IMPORT: Imported 30 AAPL at a cost of 140.16666667',
        'IMPORT: Imported -5 MSFT at a cost of 400',
      ]),
    );
    const { body: activities } = await client.get(url('/activities'));
    expect((activities.data as Body[]).filter(({ type }) => type === 'IMPORT')).toHaveLength(3);
    const { body: taxes } = await client.get(url('/tax-lots'));
    expect((taxes.data as Body[]).map(({ symbol, acquiredAt }) => `${symbol} ${acquiredAt}`)).toEqual([
      'AAPL 2024-03-01',
      'AAPL 2025-06-02',
      'MSFT 2026-01-05',
    ]);
  });

  it('lists a contract on a listed underlying that the market does not know, and refuses one on an unknown', async () => {
    const refused = await client.post(url('/import'), {
      positions: [{ symbol: 'NOPE260619C00200000', quantity: 1, price: 1 }],
    });
    expect(refused.body.message).toEqual(['positions.0: NOPE260619C00200000: unknown symbol']);
    const answer = await client.post(url('/import'), {
      positions: [{ symbol: 'AAPL260619C00200000', quantity: 2, price: 4.5 }],
    });
    expect(lotsOf(answer.body), answer.text).toEqual(['AAPL260619C00200000 2 at 4.5']);
    expect((await client.get(url('/options'))).body).toMatchObject([{ quantity: 2, averageCost: 4.5 }]);
  });

  it('is an external flow at the marks without a return', async () => {
    await client.post(url('/import'), { positions: [{ symbol: 'AAPL', quantity: 100, price: 20 }] });
    const { body } = await client.get(url('/performance'));
    expect(body).toMatchObject({ netFlows: 20_000, pnl: 0, timeWeightedReturn: 0 });
  });

  it('reports every row that cannot be imported, or skips them on request', async () => {
    const body = {
      positions: [
        { symbol: 'NOPE', quantity: 1 },
        { symbol: 'AAPL', quantity: 1 },
        { symbol: 'NADA', quantity: 1 },
      ],
    };
    const refused = await client.post(url('/import'), body);
    expect(refused.status).toBe(400);
    expect(refused.body.message).toEqual([
      'positions.0: NOPE: unknown symbol',
      'positions.2: NADA: unknown symbol',
    ]);
    const answer = await client.post(url('/import?skip=unsupported'), body);
    expect(answer.status).toBe(201);
    expect(answer.body.skipped).toHaveLength(2);
  });

  it('refuses a portfolio with positions with 409, and bad bodies with the errors', async () => {
    await placeOrder(client, portfolioId, { symbol: 'AAPL', quantity: 1 });
    expect((await client.post(url('/import'), { cash: 1 })).status).toBe(409);
    const { body, status } = await client.post(url('/import'), {
      positions: [{ symbol: 'AAPL', quantity: 3, lots: [{ quantity: 1 }] }],
    });
    expect(status).toBe(400);
    expect(body.message).toEqual(['positions.0.lots must add up to quantity']);
    expect((await client.post(url('/import'), {})).status).toBe(409);
  });

  it('accepts a file only on its route', async () => {
    const { status } = await client.inject({
      method: 'POST',
      url: '/v1/orders',
      payload: 'Symbol,Quantity\nAAPL,1',
      headers: { 'content-type': 'text/csv' },
    });
    expect(status).toBe(415);
  });

  it('names rows of every kind in the order of the file', async () => {
    const reply = await client.post(url('/import'), {
      file: 'symbol,quantity\nNOPE,1\nVFIAX,2\nNADA,3\n912828XY1,4\n',
    });
    expect(reply.body.message).toEqual([
      'row 2: NOPE: unknown symbol',
      'row 3: VFIAX: mutual funds cannot be held',
      'row 4: NADA: unknown symbol',
      'row 5: 912828XY1: bonds and other CUSIPs cannot be held',
    ]);
  });

  it('names the first 100 rows of a refusal, and how many there are (D234)', async () => {
    const rows = (count: number): string => `symbol,quantity\n${'NOPE,1\n'.repeat(count)}`;
    expect((await csv(rows(100))).message).toHaveLength(100);
    const { status, message } = await csv(rows(45_000));
    expect(status).toBe(400);
    expect((message as string[]).slice(99)).toEqual([
      'row 101: NOPE: unknown symbol',
      '45,000 rows cannot be imported; these are the first 100',
    ]);
    // The brokerage refuses rows as well.
    const zero = Array.from({ length: 150 }, () => ({
      symbol: 'AAPL',
      quantity: 1,
      acquiredAt: '2100-01-01',
    }));
    const refused = await client.post(url('/import'), { positions: zero });
    expect((refused.body.message as string[]).slice(99)).toEqual([
      'positions.99: acquiredAt of AAPL must not be in the future',
      '150 rows cannot be imported; these are the first 100',
    ]);
  });

  it('reads the JSON of Alpaca', async () => {
    const list = [
      { symbol: 'AAPL', qty: '10', side: 'long', avg_entry_price: '100.5', asset_class: 'us_equity' },
      { symbol: 'BTCUSD', qty: '0.1', side: 'long', avg_entry_price: '40000', asset_class: 'crypto' },
      { symbol: 'MSFT', qty: '-3', side: 'short', avg_entry_price: '410', asset_class: 'us_equity' },
    ];
    const answer = await send(JSON.stringify(list), '?skip=unsupported', 'application/json');
    expect(answer).toMatchObject({ status: 201, format: 'alpaca' });
    expect(lotsOf(answer)).toEqual(['AAPL 10 at 100.5', 'MSFT -3 at 410']);
    expect(answer.skipped).toEqual([
      { row: 'row 2', symbol: 'BTCUSD', reason: 'assets of class crypto cannot be held' },
    ]);
  });

  const FIDELITY = [
    "\uFEFFAccount Number,Account Name,Investment Type,Symbol,Description,Quantity,Last Price,Last Price Change,Current Value,Today's Gain/Loss Dollar,Cost Basis Total,Average Cost Basis,Type",
    'Z123,Individual,Stocks,AAPL,APPLE INC,10,$200.00,+$1.00,"$2,000.00",+$10.00,"$1,205.00",$120.50,Margin,',
    'Z123,Individual,Options, -AAPL260220C150,AAPL FEB 20 2026 $150 CALL,1,$50.00,--,"$5,000.00",--,"$4,000.00",$40.00,Margin,',
    'Z123,Individual,Stocks,BRKB,BERKSHIRE HATHAWAY,2,$450.00,--,$900.00,--,n/a,n/a,Margin,',
    'Z123,Individual,Cash,SPAXX**,HELD IN MONEY MARKET,,,,"$1,234.56",,,,Cash,',
    'Z123,Individual,,Pending Activity,,,,,$5.00,,,,,',
    'Z999,Roth IRA,Mutual Funds,VFIAX,VANGUARD 500,3,$400.00,--,"$1,200.00",--,"$1,000.00",$333.33,Cash,',
    '',
    '"Date downloaded 01/05/2026 10:00 am ET"',
  ].join('\r\n');

  it('reads a download of Fidelity, and asks which of several accounts is meant', async () => {
    const refused = await csv(FIDELITY);
    expect(refused).toMatchObject({ status: 400 });
    expect(refused.message).toEqual(['account must be one of Z123, Z999']);
    const answer = await csv(FIDELITY, '?account=Individual');
    expect(answer).toMatchObject({ status: 201, format: 'fidelity', cash: 1234.56, skipped: [] });
    expect(lotsOf(answer)).toEqual(['AAPL 10 at 120.5', 'AAPL260220C00150000 1 at 40', 'BRK.B 2 at 450']);
    const fund = await csv(FIDELITY, '?account=Z999');
    expect(fund.message).toEqual(['row 7: VFIAX: mutual funds cannot be held']);
  });

  it('reads a download of Schwab', async () => {
    const text = [
      '"Positions for account Individual ...456 as of 09:30 AM ET, 2026/01/05"',
      '""',
      '"Symbol","Description","Qty (Quantity)","Price","Price Chng $ (Price Change $)","Mkt Val (Market Value)","Cost Basis","Security Type",',
      '"AAPL","APPLE INC","10","200.00","+1.00","$2,000.00","$1,205.00","Equity",',
      '"AAPL 02/20/2026 150.00 C","CALL APPLE","-1","50.00","--","-$5,000.00","$4,000.00","Option",',
      '"BRK/B","BERKSHIRE","2","450","--","$900.00","$800.00","Equity",',
      '"912828XY1","US TREASURY","1000","99","--","$990.00","$980.00","Fixed Income",',
      '"Cash & Cash Investments","--","--","--","--","$321.00","--","Cash and Money Market",',
      '"Account Total","--","--","--","--","$1.00","$1.00","--",',
    ].join('\n');
    const answer = await csv(text, '?skip=unsupported');
    expect(answer).toMatchObject({ status: 201, format: 'schwab', cash: 321 });
    expect(lotsOf(answer)).toEqual(['AAPL 10 at 120.5', 'AAPL260220C00150000 -1 at 40', 'BRK.B 2 at 400']);
    expect(answer.skipped).toMatchObject([{ row: 'row 7', symbol: '912828XY1' }]);
  });

  it('reads a statement of Interactive Brokers, lots before summaries', async () => {
    const text = [
      'Statement,Header,Field Name,Field Value',
      'Account Information,Header,Field Name,Field Value',
      'Account Information,Data,Account,U1234567',
      'Account Information,Data,Base Currency,USD',
      'Cash Report,Header,Currency Summary,Currency,Total,Securities,Futures,',
      'Cash Report,Data,Ending Cash,Base Currency Summary,1500.25,1500.25,0,',
      'Cash Report,Data,Ending Cash,USD,1000.25,1000.25,0,',
      'Open Positions,Header,DataDiscriminator,Asset Category,Currency,Symbol,Open,Quantity,Mult,Cost Price,Cost Basis,Close Price,Value,Unrealized P/L,Code',
      'Open Positions,Data,Summary,Stocks,USD,AAPL,-,30,1,140.17,4205,200,6000,1795,',
      'Open Positions,Data,Lot,Stocks,USD,AAPL,"2024-03-01, 10:30:00",10,,120.5,1205,200,2000,795,LT',
      'Open Positions,Data,Lot,Stocks,USD,AAPL,"2025-06-02, 11:00:00",20,,150,3000,200,4000,1000,ST',
      'Open Positions,Data,Summary,Stocks,USD,BRK B,-,2,1,400,800,450,900,100,',
      'Open Positions,Data,Summary,Stocks,EUR,SAP,-,2,1,100,200,110,220,20,',
      'Open Positions,Data,Summary,Equity and Index Options,USD,AAPL 20FEB26 150 C,-,1,100,40,4000,50,5000,1000,',
      'Open Positions,Total,,Stocks,USD,,,,,,5005,,6900,1895,',
    ].join('\n');
    const refused = await csv(text);
    expect(refused.message).toEqual(['row 13: SAP: positions in EUR cannot be held']);
    const answer = await csv(text, '?skip=unsupported');
    expect(answer).toMatchObject({ status: 201, format: 'ibkr', cash: 1000.25 });
    expect(lotsOf(answer)).toEqual([
      'AAPL 10 at 120.5',
      'AAPL 20 at 150',
      'BRK.B 2 at 400',
      'AAPL260220C00150000 1 at 40',
    ]);
    expect((answer.positions as Body[])[0]).toMatchObject({ acquiredAt: '2024-03-01T15:30:00.000Z' });
  });

  it('reads a table of symbols, and refuses other text', async () => {
    const answer = await csv('symbol,quantity,price,acquiredAt\nAAPL,1.5,120.25,2025-01-02\nCASH,10,,\n');
    expect(answer).toMatchObject({ status: 201, format: 'sandpit', cash: 10 });
    expect(lotsOf(answer)).toEqual(['AAPL 1.5 at 120.25']);
    for (const text of ['hello', 'a,b\n1,2', '"', '[1', '{"a":1}', 'Positions for account x\n'])
      expect(await csv(text)).toMatchObject({ status: 400 });
  });
});
