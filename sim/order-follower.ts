import { createParser } from 'eventsource-parser';

/** One event of the order stream, as far as a comparison with the journal needs it. */
interface Seen {
  readonly id: string;
  /** `orderId status`. */
  readonly what: string;
}

/** Follows the order stream of a tenant over any number of restarts of its server: resumes with `Last-Event-ID`. */
export class OrderFollower {
  readonly seen: Seen[] = [];
  /** Event ids that came twice, resets, errors: none is allowed. */
  readonly problems: string[] = [];
  reconnects = -1;
  private readonly ids = new Set<string>();
  private readonly token: string;
  /** From the very beginning: who is killed before the first event has no id to continue from. */
  private lastId = '0-0';
  private waiting: { readonly orderId: string; readonly done: () => void } | undefined;
  private following: Promise<void> = Promise.resolve();

  constructor(token: string) {
    this.token = token;
  }

  /** Connects; resolves when the server has accepted the stream. Ends by itself when the server does. */
  async connect(baseUrl: string): Promise<void> {
    await this.following;
    this.reconnects++;
    const response = await fetch(`${baseUrl}/v1/stream/orders`, {
      headers: {
        authorization: `Bearer ${this.token}`,
        'last-event-id': this.lastId,
      },
    });
    if (!response.ok || response.body === null)
      throw new Error(`the order stream answered ${response.status}`);
    this.following = this.follow(response.body);
  }

  /** Resolves when an event of this order has come. */
  async until(orderId: string): Promise<void> {
    if (this.seen.some(({ what }) => what.startsWith(orderId))) return;
    await new Promise<void>((done) => (this.waiting = { orderId, done }));
  }

  /** Resolves when the stream has ended. */
  ended(): Promise<void> {
    return this.following;
  }

  private async follow(body: ReadableStream<Uint8Array>): Promise<void> {
    const parser = createParser({
      onEvent: ({ id, event, data }) => {
        if (event === 'order-update') this.take(id, data);
        else if (event !== 'heartbeat')
          this.problems.push(`the order stream said ${event ?? 'something'}: ${data}`);
      },
    });
    const decoder = new TextDecoder();
    try {
      for await (const bytes of body) parser.feed(decoder.decode(bytes, { stream: true }));
    } catch {
      // The server was killed: what was half received is not an event yet.
    }
  }

  private take(id: string | undefined, data: string): void {
    if (id === undefined) {
      this.problems.push('an order event came without an id');
      return;
    }
    const order = JSON.parse(data) as {
      readonly orderId: string;
      readonly status: string;
      readonly event: string;
    };
    // TRAILED events have the id of the previous event and are not in the journal.
    if (order.event === 'TRAILED') return;
    if (this.ids.has(id)) this.problems.push(`event id ${id} came twice`);
    this.ids.add(id);
    this.lastId = id;
    this.seen.push({ id, what: `${order.orderId} ${order.status}` });
    if (this.waiting?.orderId === order.orderId) this.waiting.done();
  }
}
