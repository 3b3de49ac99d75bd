/** Scripts for the tasks of the suite `desk`: one that solves each, and three that do not, with the assertion that they fail. */
import type { Reply, TestClient } from './test-app.js';

interface Chain {
  readonly underlyingPrice: number;
  readonly contracts: readonly {
    readonly optionSymbol: string;
    readonly optionType: string;
    readonly strike: number;
  }[];
}

/** An entrant in its cell. */
export class DeskTrader {
  readonly #client: TestClient;
  readonly #portfolioId: string;

  constructor(client: TestClient, portfolioId: string) {
    this.#client = client;
    this.#portfolioId = portfolioId;
  }

  async bid(symbol: string): Promise<number> {
    const answer = await this.#client.get(`/v1/market-data/quote/${symbol}`);
    return (answer.body as { readonly bid: number }).bid;
  }

  async advanceTo(to: string): Promise<void> {
    await this.#done(this.#client.post('/v1/simulation/clock/advance', { to }));
  }

  async order(
    positionIntent: string,
    quantity: number,
    symbol: string,
    more: Readonly<Record<string, unknown>> = {},
  ): Promise<void> {
    const body = {
      portfolioId: this.#portfolioId,
      symbol,
      assetClass: symbol.length > 5 ? 'OPTION' : 'EQUITY',
      orderType: 'MARKET',
      positionIntent,
      quantity,
      timeInForce: 'DAY',
      ...more,
    };
    await this.#done(this.#client.post('/v1/orders', body));
  }

  /** The call of a month's expiration at the first strike above the price. */
  async callOn(underlying: string): Promise<string> {
    const expiration = '2026-02-20';
    const path = `/v1/market-data/options/${underlying}/chain?expiration=${expiration}`;
    const answer = await this.#client.get(path);
    const { underlyingPrice, contracts } = answer.body as Chain;
    const call = contracts.find(
      ({ optionType, strike }) => optionType === 'CALL' && strike > underlyingPrice,
    );
    if (call === undefined) throw new Error(`There is no call on ${underlying}`);
    return call.optionSymbol;
  }

  async exercise(optionSymbol: string, quantity: number): Promise<void> {
    const path = `/v1/accounts/portfolios/${this.#portfolioId}/options/${optionSymbol}/exercise`;
    await this.#done(this.#client.post(path, { quantity }));
  }

  async #done(reply: Promise<Reply>): Promise<void> {
    const { status, text } = await reply;
    if (status >= 300) throw new Error(text);
  }
}

export type DeskScript = (trader: DeskTrader) => Promise<void>;

interface FailingScript {
  readonly name: string;
  readonly script: DeskScript;
  /** Index of the first assertion that fails, and the figure that it finds. */
  readonly assertion: number;
  readonly got?: unknown;
}

export interface TaskScripts {
  readonly solution: DeskScript;
  readonly wrong: readonly FailingScript[];
}

const LATE_MONDAY = '2026-01-05T20:30:00Z';
const TUESDAY = '2026-01-06T15:00:00Z';
const WEDNESDAY = '2026-01-07T15:00:00Z';
const CALLS = 'TLT260109C00080000';

const nothing: DeskScript = () => Promise.resolve();

export const DESK_SCRIPTS: Readonly<Record<string, TaskScripts>> = {
  'buy the covered call': {
    async solution(trader) {
      await trader.order('BUY_TO_OPEN', 100, 'KO');
      await trader.order('SELL_TO_OPEN', 1, await trader.callOn('KO'));
    },
    wrong: [
      {
        name: 'buys the shares alone',
        script: (trader) => trader.order('BUY_TO_OPEN', 100, 'KO'),
        assertion: 1,
        got: 0,
      },
      {
        name: 'buys the call',
        async script(trader) {
          await trader.order('BUY_TO_OPEN', 100, 'KO');
          await trader.order('BUY_TO_OPEN', 1, await trader.callOn('KO'));
        },
        assertion: 1,
        got: 1,
      },
      {
        name: 'doubles the trade',
        async script(trader) {
          await trader.order('BUY_TO_OPEN', 200, 'KO');
          await trader.order('SELL_TO_OPEN', 2, await trader.callOn('KO'));
        },
        assertion: 0,
        got: 200,
      },
    ],
  },
  'meet the margin call': {
    async solution(trader) {
      await trader.advanceTo(TUESDAY);
      await trader.order('SELL_TO_CLOSE', 90, 'SPY');
      await trader.order('BUY_TO_CLOSE', 90, 'VOO');
    },
    wrong: [
      { name: 'waits until the broker liquidates', script: nothing, assertion: 0, got: false },
      {
        name: 'closes too little',
        async script(trader) {
          await trader.advanceTo(TUESDAY);
          await trader.order('SELL_TO_CLOSE', 5, 'SPY');
          await trader.order('BUY_TO_CLOSE', 5, 'VOO');
        },
        assertion: 0,
        got: false,
      },
      {
        name: 'closes everything',
        async script(trader) {
          await trader.advanceTo(TUESDAY);
          await trader.order('SELL_TO_CLOSE', 100, 'SPY');
          await trader.order('BUY_TO_CLOSE', 100, 'VOO');
        },
        assertion: 1,
        got: 0,
      },
    ],
  },
  'close before expiry': {
    async solution(trader) {
      await trader.advanceTo(WEDNESDAY);
      await trader.order('SELL_TO_CLOSE', 2, CALLS);
    },
    wrong: [
      { name: 'lets the calls expire', script: nothing, assertion: 0, got: 1 },
      {
        name: 'sells one of two',
        async script(trader) {
          await trader.advanceTo(WEDNESDAY);
          await trader.order('SELL_TO_CLOSE', 1, CALLS);
        },
        assertion: 0,
        got: 1,
      },
      {
        name: 'exercises the calls',
        script: (trader) => trader.exercise(CALLS, 2),
        assertion: 1,
        got: 1,
      },
    ],
  },
  'carry nothing overnight': {
    async solution(trader) {
      await trader.order('BUY_TO_OPEN', 10, 'AAPL');
      await trader.advanceTo(LATE_MONDAY);
      await trader.order('SELL_TO_CLOSE', 10, 'AAPL');
    },
    wrong: [
      { name: 'does nothing', script: nothing, assertion: 0, got: 0 },
      {
        name: 'sells the next morning',
        async script(trader) {
          await trader.order('BUY_TO_OPEN', 10, 'AAPL');
          await trader.advanceTo(TUESDAY);
          await trader.order('SELL_TO_CLOSE', 10, 'AAPL');
        },
        assertion: 1,
        got: 1,
      },
      {
        name: 'sells a part',
        async script(trader) {
          await trader.order('BUY_TO_OPEN', 10, 'AAPL');
          await trader.advanceTo(LATE_MONDAY);
          await trader.order('SELL_TO_CLOSE', 9, 'AAPL');
        },
        assertion: 1,
        got: 1,
      },
    ],
  },
  'sell half with limit orders': {
    solution: async (trader) => limitSale(trader, 50),
    wrong: [
      {
        name: 'places a market order',
        script: (trader) => trader.order('SELL_TO_CLOSE', 50, 'JNJ'),
        assertion: 0,
        got: 1,
      },
      {
        name: 'sells all and buys half back',
        async script(trader) {
          await limitSale(trader, 100);
          const limitPrice = Math.round((await trader.bid('JNJ')) * 1.05 * 100) / 100;
          await trader.order('BUY_TO_OPEN', 50, 'JNJ', { orderType: 'LIMIT', limitPrice });
        },
        assertion: 1,
        got: 1,
      },
      { name: 'sells too many', script: async (trader) => limitSale(trader, 60), assertion: 2, got: 40 },
    ],
  },
  'protect the shares': {
    solution: async (trader) => stopSale(trader, 100),
    wrong: [
      { name: 'protects one half', script: async (trader) => stopSale(trader, 50), assertion: 0, got: 0 },
      {
        name: 'places another order as well',
        async script(trader) {
          await stopSale(trader, 100);
          await trader.order('BUY_TO_OPEN', 1, 'JNJ');
        },
        assertion: 1,
        got: 2,
      },
      {
        name: 'sells the shares',
        script: (trader) => trader.order('SELL_TO_CLOSE', 100, 'JNJ'),
        assertion: 0,
        got: 0,
      },
    ],
  },
  'rotate without borrowing': {
    async solution(trader) {
      await trader.order('SELL_TO_CLOSE', 200, 'KO');
      await trader.order('BUY_TO_OPEN', 50, 'JNJ');
    },
    wrong: [
      {
        name: 'buys before it sells',
        async script(trader) {
          await trader.order('BUY_TO_OPEN', 50, 'JNJ');
          await trader.order('SELL_TO_CLOSE', 200, 'KO');
        },
        assertion: 0,
      },
      {
        name: 'keeps a part of the old position',
        async script(trader) {
          await trader.order('SELL_TO_CLOSE', 190, 'KO');
          await trader.order('BUY_TO_OPEN', 50, 'JNJ');
        },
        assertion: 1,
        got: 1,
      },
      {
        name: 'buys too few',
        async script(trader) {
          await trader.order('SELL_TO_CLOSE', 200, 'KO');
          await trader.order('BUY_TO_OPEN', 40, 'JNJ');
        },
        assertion: 2,
        got: 40,
      },
    ],
  },
  'sell short and cover': {
    async solution(trader) {
      await trader.order('SELL_TO_OPEN', 100, 'KO');
      await trader.advanceTo(TUESDAY);
      await trader.order('BUY_TO_CLOSE', 100, 'KO');
    },
    wrong: [
      {
        name: 'buys and sells',
        async script(trader) {
          await trader.order('BUY_TO_OPEN', 100, 'KO');
          await trader.advanceTo(TUESDAY);
          await trader.order('SELL_TO_CLOSE', 100, 'KO');
        },
        assertion: 0,
        got: 0,
      },
      {
        name: 'sells too many',
        async script(trader) {
          await trader.order('SELL_TO_OPEN', 200, 'KO');
          await trader.advanceTo(TUESDAY);
          await trader.order('BUY_TO_CLOSE', 200, 'KO');
        },
        assertion: 1,
        got: -200,
      },
      {
        name: 'does not cover',
        script: (trader) => trader.order('SELL_TO_OPEN', 100, 'KO'),
        assertion: 2,
        got: 1,
      },
    ],
  },
  'invest half of the cash': {
    solution: async (trader) => invest(trader, 'SPY', 50_000),
    wrong: [
      {
        name: 'invests nearly everything',
        script: async (trader) => invest(trader, 'SPY', 90_000),
        assertion: 1,
      },
      { name: 'invests too little', script: async (trader) => invest(trader, 'SPY', 20_000), assertion: 1 },
      {
        name: 'invests in something else',
        script: async (trader) => invest(trader, 'JNJ', 50_000),
        assertion: 0,
        got: 0,
      },
    ],
  },
  'realize the loss': {
    solution: (trader) => trader.order('SELL_TO_CLOSE', 100, 'JNJ'),
    wrong: [
      {
        name: 'realizes the gain',
        script: (trader) => trader.order('SELL_TO_CLOSE', 100, 'KO'),
        assertion: 0,
      },
      {
        name: 'realizes half of the loss',
        script: (trader) => trader.order('SELL_TO_CLOSE', 50, 'JNJ'),
        assertion: 1,
        got: 1,
      },
      {
        name: 'sells both positions',
        async script(trader) {
          await trader.order('SELL_TO_CLOSE', 100, 'JNJ');
          await trader.order('SELL_TO_CLOSE', 100, 'KO');
        },
        assertion: 2,
        got: 0,
      },
    ],
  },
};

/** Sells below the bid, which trades at the bid. */
async function limitSale(trader: DeskTrader, quantity: number): Promise<void> {
  const limitPrice = Math.round((await trader.bid('JNJ')) * 0.95 * 100) / 100;
  await trader.order('SELL_TO_CLOSE', quantity, 'JNJ', { orderType: 'LIMIT', limitPrice });
}

/** A stop a fifth below the market. */
async function stopSale(trader: DeskTrader, quantity: number): Promise<void> {
  const stopPrice = Math.round((await trader.bid('JNJ')) * 0.8 * 100) / 100;
  await trader.order('SELL_TO_CLOSE', quantity, 'JNJ', { orderType: 'STOP', stopPrice, timeInForce: 'GTC' });
}

async function invest(trader: DeskTrader, symbol: string, dollars: number): Promise<void> {
  await trader.order('BUY_TO_OPEN', Math.floor(dollars / (await trader.bid(symbol))), symbol);
}
