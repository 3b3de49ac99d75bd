import { connect, type AddressInfo } from 'node:net';
import fc from 'fast-check';
import tradier from '@sandpit/dialect-tradier';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTradierAccount, pushQuote, type TradierAccount } from './account.js';

let opened: TradierAccount;

beforeAll(async () => {
  opened = await openTradierAccount({ settings: { RATE_LIMIT_DEFAULT: '1000000' } });
  await pushQuote(opened.owner);
});

afterAll(() => opened.test.close());

const MARKUP = '</order><id>1</id>&#0;\u0000\u0008\ud800]]><![CDATA[';

it('text from clients cannot change the structure of an XML answer', async () => {
  const name = `a ${MARKUP}`;
  const { text } = await opened.send('POST', '/v1/watchlists', { name }, { accept: '*/*' });
  const told = /<name>(.*?)<\/name>/s.exec(text)?.[1] ?? '';
  expect(told).toMatch(/^a &lt;\/order&gt;&lt;id&gt;1&lt;\/id&gt;&amp;#0;/);
  expect(text).not.toMatch(/[\u0000-\u0008]|<!\[CDATA|<id>1</);
  const quotes = await opened.send(
    'GET',
    `/v1/markets/quotes?symbols=${encodeURIComponent('<b>&"')}`,
    undefined,
    { accept: '*/*' },
  );
  expect(quotes.text).toContain('<symbol>&lt;b&gt;&amp;&quot;</symbol>');
});

it('a field of a query or a form that comes twice, or is an object of the prototype, is refused', async () => {
  const orders = `/v1/accounts/${opened.account}/orders`;
  for (const form of [
    'class=equity&class=option',
    '__proto__=1',
    'constructor=x',
    'toString=1&class=equity',
    'side[0]=buy&side[0]=sell',
  ]) {
    const response = await opened.test.app.inject({
      method: 'POST',
      url: `/tradier${orders}`,
      headers: {
        authorization: `Bearer ${opened.token}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      payload: form,
    });
    expect([response.statusCode, /^Invalid parameter, /.test(response.body)], form).toEqual([400, true]);
  }
});

/** Sends a request over its own socket; resolves with what came back until it closed or a second has passed without more. */
const raw = (parts: readonly (string | Buffer)[]): Promise<string> =>
  new Promise((resolve) => {
    const { port } = opened.test.app.server.address() as AddressInfo;
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes('\r\n\r\n')) socket.end();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(text));
    for (const part of parts) socket.write(part);
  });

const headOf = (length: number, token = opened.token): string =>
  `POST /tradier/v1/accounts/${opened.account}/orders HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${length}\r\n\r\n`;

it('a form of ten megabytes is 413 with a credential, 401 without one, and neither is read whole', async () => {
  const form = Buffer.alloc(10_000_000, 'a=1&');
  expect(await raw([headOf(form.length), form])).toContain(' 413 ');
  expect(await raw([headOf(form.length, 'x.y.z'), form])).toContain(' 401 ');
  const fields = Buffer.from(Array.from({ length: 6000 }, (_, i) => `f${i}=${i}`).join('&'));
  expect(await raw([headOf(fields.length), fields])).toMatch(
    / 400 [\s\S]*Invalid parameter, f0: is not supported/,
  );
});

it('a form that is cut anywhere places nothing', async () => {
  const form = 'class=equity&symbol=AAPL&side=buy&quantity=1&type=market&duration=day';
  for (const cut of [1, 20, form.length - 1]) {
    const { port } = opened.test.app.server.address() as AddressInfo;
    await new Promise<void>((resolve) => {
      const socket = connect(port, '127.0.0.1');
      socket.on('close', () => resolve());
      socket.on('error', () => undefined);
      socket.write(headOf(form.length) + form.slice(0, cut), () => socket.destroy());
    });
  }
  expect((await opened.send('GET', `/v1/accounts/${opened.account}/orders`)).body).toEqual({
    orders: 'null',
  });
});

it('any fields in any route: an answer below 500 in a form that clients read, and no order of another size', async () => {
  const answered = tradier.routes.filter(({ path }) => path !== '/v1/markets/events');
  const name = fc.constantFrom(
    ...[
      'class',
      'symbol',
      'symbols',
      'side',
      'quantity',
      'type',
      'duration',
      'price',
      'stop',
      'tag',
      'preview',
      'limit',
      'page',
    ],
    ...[
      'option_symbol[0]',
      'side[0]',
      'quantity[0]',
      'price[1]',
      'start',
      'end',
      'interval',
      'month',
      'year',
      'expiration',
      'name',
      'q',
    ],
  );
  const value = fc.oneof(
    fc.constantFrom(
      'equity',
      'multileg',
      'otoco',
      'AAPL',
      'buy',
      '1',
      '0',
      '-1',
      '1e309',
      '99999999999999999999',
      'market',
      'day',
    ),
    fc.constantFrom(
      '2026-01-05',
      '0000-00-00',
      '9999-12-31',
      'true',
      MARKUP,
      '',
      ' ',
      '\u0000',
      '../../v1',
      'a'.repeat(5000),
    ),
    fc.string({ maxLength: 20 }),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...answered),
      fc.constantFrom(opened.account, 'VA00000002', '1', 'AAPL', '%00', '..'),
      fc.dictionary(name, value, { maxKeys: 8 }),
      fc.boolean(),
      async ({ method, path }, param, fields, isJson) => {
        const url = path
          .replace(':account', opened.account)
          .replace(/:\w+/g, () => encodeURIComponent(param));
        const isForm = method === 'POST' || method === 'PUT';
        const query = isForm ? '' : `?${new URLSearchParams(fields).toString()}`;
        const reply = await opened.send(method as 'GET', url + query, isForm ? fields : undefined, {
          accept: isJson ? 'application/json' : '*/*',
        });
        expect(reply.status, `${method} ${url} ${JSON.stringify(fields)}`).toBeLessThan(500);
        expect(reply.text).not.toMatch(/node_modules|\bat [A-Z]\w+\.|\.ts:|\.js:/);
      },
    ),
    { numRuns: 150 },
  );
});
