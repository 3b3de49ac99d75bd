/** One connection: the handshake, and the messages of a client. */
import { type Book, type PortConnection, type PortRefusal, Refused } from '@sandpit/dialect-port';
import { accountOf } from './account.js';
import { BadField, BrokenStream, Fields, fieldsIn, frameOf, FrameReader } from './codec.js';
import {
  detailFields,
  instrumentOf,
  MARKET_RULES,
  matching,
  optionParameters,
  readContract,
  samplesOf,
  symbolIn,
} from './contracts.js';
import { DataDesk } from './data-desk.js';
import { OrderDesk } from './order-desk.js';
import { invalid, noContract, refusalBehind, refusalOf, TwsRefusal } from './refusals.js';
import { type Room, roomOf } from './rooms.js';
import { CODE, REFUSED, REQUEST, VERSIONS } from './tables.js';
import { Wire } from './wire.js';

const LOGIN_WITHIN_MS = 10_000;
const SECOND_MS = 1000;
/** Messages of a client in a second. */
const MOST_MESSAGES = 50;
/** Requests that are being answered, and orders that wait for their turn. */
const MOST_PENDING = 500;

const WHY: Readonly<Record<PortRefusal, string>> = {
  unknown: 'The portfolio of this port does not exist or is closed.',
  elsewhere: 'Another node of the cluster serves the portfolio of this port. Connect to that node.',
  'too-many': 'The portfolio has too many connections.',
  unavailable: 'The portfolio of this port is not available now.',
};

/** What a client that has introduced itself works with. */
interface Client {
  readonly wire: Wire;
  readonly book: Book;
  readonly account: string;
  readonly orders: OrderDesk;
  readonly data: DataDesk;
  readonly room: Room;
}

type Stage = 'prefix' | 'version' | 'start' | 'open' | 'over';

export class Session {
  readonly #connection: PortConnection;
  readonly #reader = new FrameReader();
  readonly #opening: Promise<Book | PortRefusal>;
  readonly #late: NodeJS.Timeout;
  #stage: Stage = 'prefix';
  #wire: Wire | undefined;
  #client: Client | undefined;
  /** The handshake and orders, in turn. */
  #turns: Promise<void> = Promise.resolve();
  #pending = 0;
  #second = { beganMs: 0, count: 0 };

  constructor(connection: PortConnection) {
    this.#connection = connection;
    this.#opening = connection.open();
    this.#late = setTimeout(() => this.#close(), LOGIN_WITHIN_MS).unref();
    connection.onBytes((bytes) => this.#hear(bytes));
    connection.onClose(() => {
      clearTimeout(this.#late);
      this.#stage = 'over';
    });
  }

  #close(): void {
    if (this.#stage === 'over') return;
    this.#stage = 'over';
    this.#connection.end();
  }

  #hear(bytes: Uint8Array): void {
    if (this.#stage === 'over') return;
    try {
      this.#reader.add(bytes);
      if (this.#stage === 'prefix') {
        const isClient = this.#reader.takePrefix('API\0');
        if (isClient === false) return this.#close();
        if (isClient === undefined) return;
        this.#stage = 'version';
      }
      for (let content = this.#reader.next(); content !== undefined; content = this.#reader.next()) {
        this.#receive(content);
        if (this.#isOver()) return;
      }
    } catch (error) {
      if (!(error instanceof BrokenStream)) this.#connection.report(error);
      this.#wire?.error(
        -1,
        new TwsRefusal(CODE.UNREADABLE, `Error reading request: ${(error as Error).message}`),
      );
      this.#close();
    }
  }

  #isOver(): boolean {
    return this.#stage === 'over';
  }

  #receive(content: Buffer): void {
    if (this.#stage === 'version') return this.#greet(content.toString('latin1'));
    const texts = fieldsIn(content);
    this.#inTurn(async () => {
      if (this.#client === undefined) await this.#start(texts);
      else this.#dispatch(this.#client, texts);
    });
  }

  /** Carries actions out one after the other. A client with too many waiting ones is disconnected. */
  #inTurn(action: () => Promise<void>): void {
    this.#pending += 1;
    if (this.#pending > MOST_PENDING) return this.#close();
    this.#turns = this.#turns
      .then(() => (this.#isOver() ? undefined : action()))
      .catch((error: unknown) => this.#fail(error))
      .finally(() => (this.#pending -= 1));
  }

  #fail(error: unknown): void {
    if (refusalBehind(error) === undefined) this.#connection.report(error);
    this.#wire?.error(-1, refusalBehind(error) ?? new TwsRefusal(322, 'Error processing request'));
  }

  /** Answers the versions of a client: `v157..178`, then perhaps options. */
  #greet(text: string): void {
    const [, first, last] = /^v(\d{1,5})(?:\.\.(\d{1,5}))?(?:[ \0]|$)/.exec(text) ?? [];
    const [least, most] = [Number(first), Number(last ?? first)];
    if (first === undefined || least > most) return this.#close();
    this.#stage = 'start';
    const version = Math.min(most, VERSIONS.last);
    const wire = new Wire(this.#connection, version);
    this.#wire = wire;
    this.#inTurn(async () => {
      const book = await this.#opening;
      const time = typeof book === 'string' ? new Date().toISOString() : book.calendar.format(book.now());
      const zone = time.endsWith('-05:00') ? 'EST' : time.endsWith('-04:00') ? 'EDT' : 'UTC';
      this.#connection.write(
        frameOf([version, `${time.slice(0, 10).replaceAll('-', '')} ${time.slice(11, 19)} ${zone}`]),
      );
      if (most < VERSIONS.first || least > VERSIONS.last) {
        const served = `versions ${VERSIONS.first} to ${VERSIONS.last} are served`;
        wire.error(
          -1,
          new TwsRefusal(CODE.OUT_OF_DATE, `The TWS is out of date and must be upgraded: ${served}`),
        );
        this.#close();
      } else if (typeof book === 'string') {
        wire.error(
          -1,
          new TwsRefusal(
            CODE.CONNECTION_LOST,
            `Connectivity between client and server has been lost. ${WHY[book]}`,
          ),
        );
        this.#close();
      }
    });
  }

  /** Handles START_API, which must be the first message. */
  async #start(texts: readonly string[]): Promise<void> {
    const wire = this.#wire;
    const book = await this.#opening;
    if (wire === undefined || typeof book === 'string') return;
    const fields = new Fields(texts);
    let clientId;
    try {
      if (fields.integer() !== REQUEST.START_API) throw new BadField('the first message is START_API');
      fields.skip();
      clientId = fields.integer();
    } catch (error) {
      wire.error(-1, new TwsRefusal(CODE.NOT_CONNECTED, `Not connected: ${(error as Error).message}`));
      this.#close();
      return;
    }
    const room = roomOf(book);
    if (!room.enter(clientId)) {
      wire.error(
        -1,
        new TwsRefusal(
          CODE.CLIENT_ID,
          'Unable to connect as the client id is already in use. Retry with a unique client id.',
        ),
      );
      this.#close();
      return;
    }
    this.#connection.onClose(() => room.leave(clientId));
    clearTimeout(this.#late);
    this.#stage = 'open';
    const account = accountOf(book);
    const orders = new OrderDesk(book, wire, room, clientId, account);
    await orders.start();
    this.#client = { wire, book, account, room, orders, data: new DataDesk(book, wire, account) };
    wire.send('MANAGED_ACCOUNTS', account);
    wire.send('NEXT_VALID_ID', room.next);
    for (const [code, message] of CODE.FARMS) wire.error(-1, { code, message });
  }

  /** Starts the answer to a message. Orders are carried out in turn, other requests at once. */
  #dispatch(client: Client, texts: readonly string[]): void {
    const fields = new Fields(texts);
    let number;
    try {
      number = fields.integer();
    } catch {
      return client.wire.error(-1, new TwsRefusal(CODE.UNKNOWN_MESSAGE, 'Fatal Error: Unknown message id.'));
    }
    const refused = Object.hasOwn(REFUSED, number) ? REFUSED[number] : undefined;
    const handler = HANDLERS[number];
    const reqId = idIn(texts, refused?.id ?? handler?.id);
    if (this.#isTooFast() || !this.#connection.count(String(number)))
      return client.wire.error(
        reqId,
        new TwsRefusal(CODE.RATE, 'Max rate of messages per second has been exceeded'),
      );
    if (refused !== undefined)
      return client.wire.error(
        reqId,
        new TwsRefusal(refused.code, `${refused.what}: not available at Sandpit`),
      );
    if (handler === undefined)
      return client.wire.error(
        -1,
        new TwsRefusal(CODE.UNKNOWN_MESSAGE, `Fatal Error: Unknown message id. ${number}`),
      );
    const answer = async (): Promise<void> => {
      try {
        await handler.answer(client, fields);
      } catch (error) {
        const refusal = refusalIn(error);
        if (refusal === undefined) this.#connection.report(error);
        client.wire.error(reqId, refusal ?? new TwsRefusal(322, 'Error processing request'));
      }
    };
    if (handler.inTurn === true) return this.#inTurn(answer);
    this.#pending += 1;
    if (this.#pending > MOST_PENDING) return this.#close();
    void answer().finally(() => (this.#pending -= 1));
  }

  #isTooFast(): boolean {
    const nowMs = performance.now();
    if (nowMs - this.#second.beganMs >= SECOND_MS) this.#second = { beganMs: nowMs, count: 0 };
    this.#second.count += 1;
    return this.#second.count > MOST_MESSAGES;
  }
}

/** The id of a request, at its place; −1 without one. */
function idIn(texts: readonly string[], place: number | undefined): number {
  const text = place === undefined ? undefined : texts[place];
  return text !== undefined && /^-?\d{1,10}$/.test(text) ? Number(text) : -1;
}

function refusalIn(error: unknown): TwsRefusal | undefined {
  if (error instanceof BadField)
    return new TwsRefusal(CODE.UNREADABLE, `Error reading request: ${error.message}`);
  return error instanceof Refused ? refusalOf(error) : refusalBehind(error);
}

interface Handler {
  /** Place of the request id among all fields; absent = there is none. */
  readonly id?: number;
  readonly inTurn?: boolean;
  readonly answer: (client: Client, fields: Fields) => void | Promise<void>;
}

/** A request with a version field before its id. */
const versioned = (
  answer: (client: Client, reqId: number, fields: Fields) => void | Promise<void>,
): Handler => ({
  id: 2,
  answer: (client, fields) => {
    fields.skip();
    return answer(client, fields.integer(), fields);
  },
});

/** A request whose id comes first. */
const plain = (answer: (client: Client, reqId: number, fields: Fields) => void | Promise<void>): Handler => ({
  id: 1,
  answer: (client, fields) => answer(client, fields.integer(), fields),
});

/** A request without an id, or one about orders: in turn. */
const inTurn = (answer: Handler['answer'], id?: number): Handler => ({
  inTurn: true,
  answer,
  ...(id !== undefined && { id }),
});

function checkAccount({ account }: Client, given: string): void {
  if (given !== '' && given !== account && given !== 'All')
    throw invalid(`unknown account ${given.slice(0, 20)}`);
}

const NOTHING: Handler = { answer: () => undefined };

const HANDLERS: Readonly<Partial<Record<number, Handler>>> = {
  [REQUEST.MARKET_DATA]: versioned(({ data }, reqId, fields) => data.open(reqId, fields)),
  [REQUEST.CANCEL_MARKET_DATA]: versioned(({ data }, reqId) => data.close(reqId)),
  [REQUEST.PLACE_ORDER]: inTurn(({ orders }, fields) => orders.place(fields), 1),
  [REQUEST.CANCEL_ORDER]: inTurn(({ orders }, fields) => {
    fields.skip();
    return orders.cancel(fields.integer());
  }, 2),
  [REQUEST.OPEN_ORDERS]: inTurn(({ orders }) => orders.showOpen(false)),
  [REQUEST.ALL_OPEN_ORDERS]: inTurn(({ orders }) => orders.showOpen(true)),
  // Client 0 sees orders from elsewhere in any case.
  [REQUEST.AUTO_OPEN_ORDERS]: inTurn(({ orders }) => orders.showOpen(false)),
  [REQUEST.GLOBAL_CANCEL]: inTurn(({ orders }) => orders.cancelAll()),
  [REQUEST.COMPLETED_ORDERS]: inTurn(({ orders }, fields) => orders.showCompleted(fields.flag())),
  [REQUEST.EXECUTIONS]: inTurn(({ orders }, fields) => {
    fields.skip();
    return orders.showExecutions(fields);
  }, 2),
  [REQUEST.EXERCISE_OPTIONS]: inTurn(exercise, 2),
  [REQUEST.IDS]: { answer: ({ wire, room }) => wire.send('NEXT_VALID_ID', room.next) },
  [REQUEST.ACCOUNT_UPDATES]: {
    answer: (client, fields) => {
      fields.skip();
      const isOn = fields.flag();
      if (!isOn) return client.data.closeValues();
      checkAccount(client, fields.text());
      return client.data.openValues();
    },
  },
  [REQUEST.CONTRACT_DATA]: versioned(async ({ wire, book }, reqId, fields) => {
    const contract = readContract(fields);
    fields.skip();
    if (fields.text() !== '') throw noContract('identifiers of securities are not available');
    const found = await matching(book, contract);
    if (found.length === 0) throw noContract();
    for (const instrument of found)
      wire.send(
        'CONTRACT_DATA',
        ...(wire.version < 164 ? [8] : []),
        reqId,
        ...detailFields(book, instrument),
      );
    wire.send('CONTRACT_DATA_END', reqId);
  }),
  [REQUEST.NEWS_BULLETINS]: NOTHING,
  [REQUEST.CANCEL_NEWS_BULLETINS]: NOTHING,
  [REQUEST.LOG_LEVEL]: NOTHING,
  [REQUEST.MANAGED_ACCOUNTS]: { answer: ({ wire, account }) => wire.send('MANAGED_ACCOUNTS', account) },
  [REQUEST.HISTORICAL_DATA]: plain(({ data }, reqId, fields) => data.openBars(reqId, fields)),
  [REQUEST.CANCEL_HISTORICAL_DATA]: versioned(({ data }, reqId) => data.closeBars(reqId)),
  [REQUEST.CURRENT_TIME]: {
    answer: ({ wire, book }) => wire.send('CURRENT_TIME', Math.floor(book.now() / 1000)),
  },
  [REQUEST.MARKET_DATA_TYPE]: {
    answer: ({ data }, fields) => {
      fields.skip();
      data.setType(fields.integer());
    },
  },
  [REQUEST.POSITIONS]: { answer: ({ data }) => data.openPositions() },
  [REQUEST.CANCEL_POSITIONS]: { answer: ({ data }) => data.closePositions() },
  [REQUEST.ACCOUNT_SUMMARY]: versioned((client, reqId, fields) => {
    checkAccount(client, fields.text());
    return client.data.openSummary(
      reqId,
      fields
        .text()
        .split(',')
        .map((tag) => tag.trim()),
    );
  }),
  [REQUEST.CANCEL_ACCOUNT_SUMMARY]: versioned(({ data }, reqId) => data.closeSummary(reqId)),
  [REQUEST.POSITIONS_MULTI]: versioned((client, reqId, fields) => {
    checkAccount(client, fields.text());
    return client.data.positionsMulti(reqId);
  }),
  [REQUEST.CANCEL_POSITIONS_MULTI]: NOTHING,
  [REQUEST.ACCOUNT_UPDATES_MULTI]: versioned((client, reqId, fields) => {
    checkAccount(client, fields.text());
    fields.skip();
    return client.data.valuesMulti(reqId, fields.flag());
  }),
  [REQUEST.CANCEL_ACCOUNT_UPDATES_MULTI]: NOTHING,
  [REQUEST.OPTION_PARAMETERS]: plain(async ({ wire, book }, reqId, fields) => {
    const [symbol, , , conId] = [fields.text(), fields.text(), fields.text(), fields.integer()];
    const found =
      (conId === 0 ? undefined : await instrumentOf(book, conId)) ?? book.instrument(symbolIn(symbol));
    for (const parameters of found === undefined ? [] : await optionParameters(book, found.symbol))
      wire.send('OPTION_PARAMETERS', reqId, ...parameters);
    if (found === undefined) throw noContract();
    wire.send('OPTION_PARAMETERS_END', reqId);
  }),
  [REQUEST.SOFT_DOLLAR_TIERS]: plain(({ wire }, reqId) => wire.send('SOFT_DOLLAR_TIERS', reqId, 0)),
  [REQUEST.FAMILY_CODES]: { answer: ({ wire, account }) => wire.send('FAMILY_CODES', 1, account, '') },
  [REQUEST.MATCHING_SYMBOLS]: plain(({ wire, book }, reqId, fields) =>
    wire.send('SYMBOL_SAMPLES', reqId, ...samplesOf(book, fields.text(), wire.version)),
  ),
  [REQUEST.DEPTH_EXCHANGES]: { answer: ({ wire }) => wire.send('DEPTH_EXCHANGES', 0) },
  [REQUEST.NEWS_PROVIDERS]: { answer: ({ wire }) => wire.send('NEWS_PROVIDERS', 0) },
  [REQUEST.MARKET_RULE]: plain(({ wire }, ruleId) => {
    const steps = Object.hasOwn(MARKET_RULES, ruleId) ? MARKET_RULES[ruleId] : undefined;
    if (steps === undefined) throw invalid(`unknown market rule ${ruleId}`);
    wire.send('MARKET_RULE', ruleId, steps.length, ...steps.flat());
  }),
  [REQUEST.PNL]: plain((client, reqId, fields) => {
    checkAccount(client, fields.text());
    return client.data.openProfit(reqId);
  }),
  [REQUEST.CANCEL_PNL]: plain(({ data }, reqId) => data.closeProfit(reqId)),
  [REQUEST.PNL_SINGLE]: plain((client, reqId, fields) => {
    checkAccount(client, fields.text());
    fields.skip();
    return client.data.openProfit(reqId, fields.integer());
  }),
  [REQUEST.CANCEL_PNL_SINGLE]: plain(({ data }, reqId) => data.closeProfit(reqId)),
  [REQUEST.TICK_BY_TICK]: plain(({ data }, reqId, fields) => data.openTicks(reqId, fields)),
  [REQUEST.CANCEL_TICK_BY_TICK]: plain(({ data }, reqId) => data.closeTicks(reqId)),
  [REQUEST.USER_INFO]: plain(({ wire }, reqId) => wire.send('USER_INFO', reqId, '')),
};

/** Exercises a long option. Lapsing needs no instruction here. */
async function exercise({ wire, book }: Client, fields: Fields): Promise<void> {
  fields.skip();
  const reqId = fields.integer();
  const [instrument] = await matching(book, readContract(fields, false));
  const [action, quantity] = [fields.integer(), fields.integer()];
  if (instrument?.assetClass !== 'OPTION') throw noContract();
  if (action !== 1) throw invalid('lapsing an option is not available');
  const params = { portfolioId: book.portfolioId, optionSymbol: instrument.symbol };
  await book.run('exerciseOption', { params, body: { quantity } });
  wire.error(reqId, { code: CODE.ORDER_MESSAGE, message: 'Order Message:\nThe option was exercised.' });
}
