import { Webhook } from 'standardwebhooks';
import { expect, it } from 'vitest';
import { newSecret, signatureOf } from './signature.js';

const BODY = JSON.stringify({
  type: 'order.filled',
  timestamp: '2026-01-05T15:00:00.000Z',
  data: { symbol: 'ÅBC €' },
});
const ID = 'evt_main_12-3';

const verify = (secret: string, signature: string, body = BODY, timestamp = now()): unknown =>
  new Webhook(secret).verify(body, {
    'webhook-id': ID,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signature,
  });
const now = (): number => Math.floor(Date.now() / 1000);

it('signatureOf: equals the signature of the reference library', () => {
  const secret = newSecret();
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  const at = new Date(1_767_625_200_000);
  expect(signatureOf([secret], ID, at.getTime() / 1000, BODY)).toBe(new Webhook(secret).sign(ID, at, BODY));
});

it('signatureOf: the reference library accepts the signature of either secret', () => {
  const [current, earlier] = [newSecret(), newSecret()];
  const signature = signatureOf([current, earlier], ID, now(), BODY);
  expect(signature.split(' ')).toHaveLength(2);
  expect(verify(current, signature)).toEqual(JSON.parse(BODY));
  expect(verify(earlier, signature)).toEqual(JSON.parse(BODY));
});

it('signatureOf: the reference library refuses another body, secret or time', () => {
  const secret = newSecret();
  const signature = signatureOf([secret], ID, now(), BODY);
  expect(() => verify(secret, signature, `${BODY} `)).toThrow('No matching signature found');
  expect(() => verify(newSecret(), signature)).toThrow('No matching signature found');
  expect(() => verify(secret, signature, BODY, now() + 1)).toThrow('No matching signature found');
});
