/** A listening port of one portfolio, and a client that sends and receives plain fields. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import {
  openPortfolio,
  pushQuote,
  TestApp,
  type TestAppOptions,
  type TestClient,
} from '../../../server/src/testing/test-app.js';
import dialect from '../src/index.js';

export interface TwsAccount {
  readonly test: TestApp;
  readonly owner: TestClient;
  readonly portfolioId: string;
  readonly account: string;
  readonly port: number;
}

/** Opens a server with a port for a new portfolio, and a quote of AAPL at 99.90 by 100.00. */
export async function openTwsAccount(
  options: TestAppOptions = {},
  portfolio: object = {},
): Promise<TwsAccount> {
  const test = await TestApp.open(options);
  const owner = test.as({ tier: 'ENTERPRISE' });
  const { portfolioId } = (await openPortfolio(owner, portfolio)) as { portfolioId: string };
  const port = await test.app.dialectPorts.listen(dialect, { port: 0, portfolioId }, '127.0.0.1');
  if (options.config?.feed === undefined) await pushQuote(owner);
  return { test, owner, portfolioId, account: 'DU0000001', port };
}

export type Field = string | number;

export const frame = (fields: readonly Field[]): Buffer => {
  const content = Buffer.from(fields.map((field) => `${field}\0`).join(''));
  const head = Buffer.alloc(4);
  head.writeUInt32BE(content.length);
  return Buffer.concat([head, content]);
};

/** A client that speaks the protocol by hand. */
export class WireClient {
  readonly socket: Socket;
  /** Received messages that no wait has taken. */
  readonly inbox: string[][] = [];
  readonly closed: Promise<unknown>;
  #bytes = Buffer.alloc(0);
  #wake: (() => void) | undefined;

  constructor(port: number) {
    this.socket = connect(port, '127.0.0.1');
    this.socket.on('error', () => undefined);
    this.closed = once(this.socket, 'close')
      .catch(() => undefined)
      .finally(() => this.#wake?.());
    this.socket.on('data', (bytes: Buffer) => {
      this.#bytes = Buffer.concat([this.#bytes, bytes]);
      while (this.#bytes.length >= 4 && this.#bytes.length >= 4 + this.#bytes.readUInt32BE(0)) {
        const end = 4 + this.#bytes.readUInt32BE(0);
        this.inbox.push(this.#bytes.subarray(4, end).toString().split('\0').slice(0, -1));
        this.#bytes = this.#bytes.subarray(end);
      }
      this.#wake?.();
    });
  }

  /** Connects and introduces itself. */
  static async open(port: number, clientId = 1, versions = 'v157..178'): Promise<WireClient> {
    const client = new WireClient(port);
    client.write(Buffer.concat([Buffer.from('API\0'), frameOfText(versions)]));
    client.send(71, 2, clientId, '');
    await client.next((fields) => fields[3] === '2158');
    return client;
  }

  write(bytes: Uint8Array): void {
    this.socket.write(bytes);
  }

  send(...fields: readonly Field[]): void {
    this.write(frame(fields));
  }

  /** The next message that a test accepts; earlier ones are dropped. */
  async next(accepts: (fields: readonly string[]) => boolean): Promise<string[]> {
    for (;;) {
      const found = this.inbox.findIndex(accepts);
      if (found >= 0) return this.inbox.splice(0, found + 1).at(-1) ?? [];
      if (this.socket.closed) throw new Error(`closed; received ${JSON.stringify(this.inbox)}`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** The next error of a request or an order: its code and text. */
  async error(id: Field): Promise<readonly [code: string, text: string]> {
    const [, , , code = '', text = ''] = await this.next(
      (fields) => fields[0] === '4' && fields[2] === String(id),
    );
    return [code, text];
  }

  /** The next status of an order. */
  async status(orderId: number, status: string): Promise<string[]> {
    return this.next((fields) => fields[0] === '3' && fields[1] === String(orderId) && fields[2] === status);
  }

  end(): void {
    this.socket.destroy();
  }
}

export const frameOfText = (text: string): Buffer => {
  const head = Buffer.alloc(4);
  head.writeUInt32BE(text.length);
  return Buffer.concat([head, Buffer.from(text)]);
};

/** The twelve fields of a stock. */
export const stock = (symbol: string): readonly Field[] => [
  0,
  symbol,
  'STK',
  '',
  0,
  '',
  '',
  'SMART',
  '',
  'USD',
  '',
  '',
];

export interface OrderParts {
  readonly action?: string;
  readonly quantity?: Field;
  readonly type?: string;
  readonly limit?: Field;
  readonly aux?: Field;
  readonly tif?: string;
  readonly ocaGroup?: string;
  readonly account?: string;
  readonly orderRef?: string;
  readonly transmit?: number;
  readonly parentId?: number;
  readonly outsideRth?: number;
  readonly hidden?: number;
  readonly legs?: readonly Field[];
  readonly goodTillDate?: string;
  readonly trailStop?: Field;
  readonly percent?: Field;
  readonly algo?: readonly Field[];
  readonly whatIf?: number;
  readonly conditions?: readonly Field[];
  readonly cash?: Field;
}

/** The fields of PLACE_ORDER at version 178, as ib_async writes them. */
export function placeOrder(
  orderId: Field,
  contract: readonly Field[],
  order: OrderParts = {},
): readonly Field[] {
  const { action = 'BUY', quantity = 10, type = 'LMT', limit = 90, aux = '', tif = '', transmit = 1 } = order;
  return [
    ...[3, orderId, ...contract, '', '', action, quantity, type, limit, aux, tif],
    ...[
      order.ocaGroup ?? '',
      order.account ?? '',
      '',
      0,
      order.orderRef ?? '',
      transmit,
      order.parentId ?? 0,
    ],
    ...[0, 0, 0, 0, order.outsideRth ?? 0, order.hidden ?? 0],
    ...(order.legs ?? []),
    ...['', 0, '', order.goodTillDate ?? '', '', '', '', '', 0, '', -1, 0, '', '', 0, '', '', 0, 0, ''],
    ...[0, '', '', '', '', '', 0, '', '', '', '', 0, '', order.trailStop ?? '', order.percent ?? ''],
    ...['', '', '', '', '', '', '', 0, '', '', 0, 0],
    ...(order.algo ?? ['']),
    ...['', order.whatIf ?? 0, '', 0, 0, 0],
    ...(order.conditions ?? [0]),
    ...['', '', '', '', '', '', 0, '', '', '', order.cash ?? '', '', '', '', '', 0, 0, 0, 0],
    ...['', '', 0, '', ''],
  ];
}
