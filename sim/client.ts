import { setTimeout as after } from 'node:timers/promises';

/** Maximum time until a list is available after a start. */
const PATIENCE_MS = 15_000;

/** An answer of the API. */
export interface Answer {
  readonly status: number;
  /** Parsed; undefined when there is none. */
  readonly body: unknown;
  readonly replayed: boolean;
}

/** Asks the API of a server as one tenant. Throws `TypeError` when the connection breaks, as `fetch` does. */
export class Client {
  baseUrl: string;
  private readonly token: string;

  constructor(baseUrl: string, token: string) {
    this.baseUrl = baseUrl;
    this.token = token;
  }

  async ask(method: string, path: string, body?: object, key?: string): Promise<Answer> {
    const response = await fetch(this.baseUrl + path, {
      method,
      headers: {
        authorization: `Bearer ${this.token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(key !== undefined && { 'idempotency-key': key }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      body: text === '' ? undefined : (JSON.parse(text) as unknown),
      replayed: response.headers.get('idempotent-replayed') === 'true',
    };
  }

  /** The body of a GET that must succeed, at once or as soon as the server has caught up with its past. */
  async get(path: string): Promise<unknown> {
    let { status, body } = await this.ask('GET', path);
    const began = performance.now();
    while (status === 503 && performance.now() - began < PATIENCE_MS) {
      await after(100);
      ({ status, body } = await this.ask('GET', path));
    }
    if (status !== 200) throw new Error(`GET ${path} answered ${status}: ${JSON.stringify(body)}`);
    return body;
  }

  /** A paged list, newest first: all of it, or its first page. */
  async list<Item>(path: string, options: { readonly firstPage?: number } = {}): Promise<Listed<Item>> {
    const { firstPage } = options;
    const limit = firstPage ?? 500;
    const items: Item[] = [];
    for (let page = 1; ; page++) {
      const { data, pagination } = (await this.get(`${path}?limit=${limit}&page=${page}`)) as Page<Item>;
      items.push(...data);
      if (firstPage !== undefined || page >= pagination.totalPages) return { items, total: pagination.total };
    }
  }
}

export interface Listed<Item> {
  readonly items: readonly Item[];
  readonly total: number;
}

interface Page<Item> {
  readonly data: readonly Item[];
  readonly pagination: { readonly total: number; readonly totalPages: number };
}
