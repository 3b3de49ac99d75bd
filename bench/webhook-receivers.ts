/** Receivers of webhooks for `webhooks.ts`, in a process of their own. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Figures of one measurement. */
export type ToReceivers =
  /** Keeps answers back from here on, or gives them. */
  | { readonly kind: 'hold' }
  | { readonly kind: 'go' }
  /** Asks for the requests since the last report. */
  | { readonly kind: 'report' };

export interface ReceiversReport {
  readonly count: number;
  /** Wall-clock ms. */
  readonly firstAt: number;
  readonly lastAt: number;
  /** Time at which each fill was received, at each live receiver: `[orderId, ms]`. */
  readonly fills: readonly (readonly [string, number])[];
}

const LIVE = 20;
let isHolding = false;
let held: ServerResponse[] = [];
let times: number[] = [];
let fills: [string, number][] = [];

function listen(answer: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (part: string) => (text += part));
    request.on('end', () => {
      const at = Date.now();
      times.push(at);
      if (text.startsWith('{"type":"order.filled"'))
        fills.push([(JSON.parse(text) as { data: { orderId: string } }).data.orderId, at]);
      answer(response);
    });
  });
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () =>
      resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`),
    ),
  );
}

const live = await Promise.all(
  Array.from({ length: LIVE }, () =>
    listen((response) => {
      if (isHolding) held.push(response);
      else response.writeHead(204).end();
    }),
  ),
);
const dead = await listen(() => undefined);
process.on('message', (message: ToReceivers) => {
  if (message.kind === 'hold') isHolding = true;
  if (message.kind === 'go') {
    isHolding = false;
    for (const response of held) response.writeHead(204).end();
    held = [];
    times = [];
  }
  if (message.kind === 'report') {
    const [firstAt = 0] = times;
    process.send?.({
      count: times.length,
      firstAt,
      lastAt: times.at(-1) ?? 0,
      fills,
    } satisfies ReceiversReport);
    fills = [];
  }
});
process.send?.({ live, dead });
