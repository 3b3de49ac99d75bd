/** Templates of simulations: a market with a portfolio in it, or a lesson that is ready for its one click. */
import type { CreateSimulationBody } from '@sandpit/protocol';
import type { Broker } from '../broker.ts';
import { instantInNewYork } from '../format.ts';
import { go, hrefOf } from '../route.ts';
import { keepToken } from '../session.ts';

export type TemplateName = 'week' | 'call' | 'assignment' | 'replay' | 'blank';

export interface Template {
  readonly name: TemplateName;
  readonly title: string;
  readonly text: string;
}

export const TEMPLATES: readonly Template[] = [
  {
    name: 'week',
    title: 'A synthetic week',
    text: '100,000 dollars and a market with synthetic prices. You move the clock.',
  },
  {
    name: 'call',
    title: 'Margin-call lesson',
    text: 'Shares bought on margin have fallen: a margin call is open, with the ways to meet it.',
  },
  {
    name: 'assignment',
    title: 'Assignment lesson',
    text: 'A covered call is in the money half an hour before it expires. Press Next expiry.',
  },
  {
    name: 'replay',
    title: 'Replay of AAPL, June 2014',
    text: 'Recorded quotes of AAPL and its options, if the server has a recording of them.',
  },
  {
    name: 'blank',
    title: 'A blank push market',
    text: '100,000 dollars, and no prices until you or a program set them.',
  },
];

/** A first Monday of sessions, as in the examples of the documentation. */
export const FIRST_DAY = '2026-01-05';

/** The Friday of the week of a date without time; that of the next week from Friday on. */
export function fridayAfter(date: string): string {
  const day = new Date(`${date}T00:00:00Z`);
  const left = (5 - day.getUTCDay() + 7) % 7;
  day.setUTCDate(day.getUTCDate() + (left === 0 ? 7 : left));
  return day.toISOString().slice(0, 10);
}

/** `AAPL260109C00185000`. */
export const callNamed = (root: string, date: string, strike: number): string =>
  `${root}${date.slice(2).replaceAll('-', '')}C${String(Math.round(strike * 1000)).padStart(8, '0')}`;

/** The simulation of a template that begins on a date. */
export function simulationOf(name: TemplateName, date: string): CreateSimulationBody {
  const title = TEMPLATES.find((one) => one.name === name)?.title ?? name;
  const feed = name === 'week' ? 'synthetic' : name === 'replay' ? 'replay' : 'push';
  const day = name === 'replay' ? RECORDED_DAY : date;
  const start = instantInNewYork(`${day}T${name === 'week' || name === 'replay' ? '09:30' : '10:00'}`);
  return {
    name: title,
    feed,
    clock: 'manual',
    calendar: 'XNYS',
    ...(start !== undefined && { start }),
  };
}

/** Creates the simulation of a template and goes to its page. What cannot be prepared is deleted again. */
export async function openTemplate(broker: Broker, name: TemplateName, date: string): Promise<void> {
  const { simulationId, token } = await broker.call('createSimulation', { body: simulationOf(name, date) });
  try {
    const place = await prepare(broker.within(token), name, date);
    keepToken(token);
    go(hrefOf(simulationId, place));
  } catch (error) {
    await broker.call('deleteSimulation', { params: { simulationId } }).catch(() => undefined);
    throw error;
  }
}

const SYMBOL = 'AAPL';
/** First day of the recording among the samples. */
const RECORDED_DAY = '2014-06-06';

/** Creates the contents of a template. Returns the page that shows them. */
async function prepare(
  inside: ReturnType<Broker['within']>,
  name: TemplateName,
  date: string,
): Promise<string> {
  const open = async (title: string, initialCash: number): Promise<string> => {
    const { portfolioId } = await inside.call('createPortfolio', {
      body: {
        accountId: crypto.randomUUID(),
        portfolioType: 'MARGIN',
        marginType: 'REG_T',
        accountType: 'INDIVIDUAL',
        brokerId: 'default',
        name: title,
        initialCash,
      },
    });
    return portfolioId;
  };
  const quote = (symbol: string, bid: number, ask: number) => ({ symbol, bid, ask });
  const push = (...quotes: readonly ReturnType<typeof quote>[]) =>
    inside.call('pushQuotes', { body: { quotes: [...quotes] } });
  const order = (portfolioId: string, symbol: string, quantity: number) =>
    inside.call('createOrder', {
      body: {
        portfolioId,
        symbol,
        assetClass: symbol === SYMBOL ? 'EQUITY' : 'OPTION',
        orderType: 'MARKET',
        positionIntent: quantity > 0 ? 'BUY_TO_OPEN' : 'SELL_TO_OPEN',
        quantity: Math.abs(quantity),
        timeInForce: 'DAY',
      },
    });
  switch (name) {
    case 'week':
      await open('My first week', 100_000);
      return 'trade/AAPL';
    case 'replay': {
      const { data } = await inside.call('listInstruments', { query: { symbol: SYMBOL, limit: 1 } });
      if (data.length === 0)
        throw new Error(
          'This server has no recording of AAPL. Start it with REPLAY_PATH at a file or folder that has one.',
        );
      await open('My replay', 100_000);
      return 'trade/AAPL';
    }
    case 'call': {
      const portfolioId = await open('Margin-call lesson', 10_000);
      await push(quote(SYMBOL, 187.59, 187.6));
      await order(portfolioId, SYMBOL, 100);
      // 11,000 of shares on a loan of 8,760: 2,240 of equity, of which 2,750 is required.
      await push(quote(SYMBOL, 110, 110));
      await inside.call('advanceClock', { body: { by: 'PT5S' } });
      return `portfolio/${portfolioId}`;
    }
    case 'assignment': {
      const portfolioId = await open('Assignment lesson', 50_000);
      const friday = fridayAfter(date);
      const call = callNamed(SYMBOL, friday, 190);
      await push(quote(SYMBOL, 187.59, 187.6), quote(call, 1.4, 1.5));
      await order(portfolioId, SYMBOL, 100);
      await order(portfolioId, call, -1);
      await inside.call('advanceClock', { body: { to: instantInNewYork(`${friday}T15:30`) ?? friday } });
      await push(quote(SYMBOL, 194.99, 195), quote(call, 5, 5.1));
      return `portfolio/${portfolioId}`;
    }
    case 'blank':
      await open('My portfolio', 100_000);
      return 'trade/AAPL?show=market';
  }
}
