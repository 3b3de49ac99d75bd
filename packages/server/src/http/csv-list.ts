/** Answers lists as CSV, one page of the JSON list after another (D190). */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Route } from '@sandpit/protocol';
import { Answer } from './answer.js';
import { CsvStream } from './csv.js';
import { CsvRows, type Shape } from './csv-rows.js';
import { ALL_LINES, NEXT_CURSOR, type PageReply, REST, UNCOUNTED } from './translate/pages.js';

/** Items read at a time. */
const ITEMS_AT_ONCE = 500;

interface ListCall {
  readonly query: unknown;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

type Handle = (call: unknown) => object | undefined | Promise<object | undefined>;

/** Turns the answer of a list into rows. */
export class CsvList {
  readonly #rows: CsvRows;
  readonly #itemsOf: (answer: object) => readonly unknown[];

  constructor(route: Route) {
    const answer = route.responses[200] as Shape;
    const rowsOf = typeof route.csv === 'string' ? route.csv : undefined;
    const data = answer.properties?.['data'];
    if (answer.items !== undefined) {
      this.#rows = new CsvRows(answer.items, rowsOf);
      this.#itemsOf = (list) => list as readonly unknown[];
    } else if (data?.items !== undefined) {
      this.#rows = new CsvRows(data.items, rowsOf, route.isLinePerItem);
      this.#itemsOf = (page) => (page as { readonly data: readonly unknown[] }).data;
    } else {
      this.#rows = new CsvRows(answer, rowsOf);
      this.#itemsOf = (one) => (isEmpty(one, rowsOf) ? [] : [one]);
    }
  }

  get headings(): readonly string[] {
    return this.#rows.headings;
  }

  /** The lines of an item. */
  linesOf(item: unknown): string {
    return this.#rows.lines(item);
  }

  /** The first page, or the refusal; the whole list is streamed on the connection, which completes the response. */
  async answer(call: ListCall, handle: Handle): Promise<object | undefined> {
    const query = {
      ...(call.query as object),
      page: 1,
      limit: ITEMS_AT_ONCE,
      cursor: undefined,
      [UNCOUNTED]: true,
    };
    let page = await handle({ ...call, query });
    if (page === undefined || page instanceof Answer) return page;
    const stream = new CsvStream(call.request, call.reply, this.#rows.headings);
    try {
      const emitAll = (page as Partial<PageReply<unknown>>)[ALL_LINES];
      if (emitAll !== undefined) {
        await emitAll((lines) => stream.write(lines));
        stream.end();
        return undefined;
      }
      for (;;) {
        for (const item of this.#itemsOf(page)) await stream.write(this.#rows.lines(item));
        const { [NEXT_CURSOR]: cursor, [REST]: rest } = page as Partial<PageReply<unknown>>;
        for (const item of rest?.() ?? []) {
          await stream.write(this.#rows.lines(item));
          if (stream.isClosed) return undefined;
        }
        if (cursor === undefined || rest !== undefined || stream.isClosed) break;
        page = await handle({ ...call, query: { ...query, cursor } });
        // The listed resource was removed or cannot be read: too late for an error answer.
        if (page === undefined || page instanceof Answer) {
          stream.abort();
          return undefined;
        }
      }
      stream.end();
    } catch (error) {
      stream.abort();
      throw error;
    }
    return undefined;
  }
}

function isEmpty(answer: object, list: string | undefined): boolean {
  const found: unknown = list === undefined ? undefined : (answer as Readonly<Record<string, unknown>>)[list];
  return Array.isArray(found) && found.length === 0;
}
