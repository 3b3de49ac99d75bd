import { Webhook } from 'standardwebhooks';
import { expect, it } from 'vitest';
import { verifyWebhook, WebhookVerificationError } from './verify-webhook.js';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const OTHER = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
const BODY = JSON.stringify({
  type: 'order.filled',
  timestamp: '2026-01-05T15:00:00.000Z',
  data: { id: '12-3', simulationId: 'main', name: '€' },
});

function headersFor(secret: string, at = new Date()): Record<string, string> {
  return {
    'webhook-id': 'evt_main_12-3',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign('evt_main_12-3', at, BODY),
  };
}

it('verifyWebhook: gives the payload that the reference library has signed', async () => {
  const payload = await verifyWebhook({ secret: SECRET, headers: headersFor(SECRET), body: BODY });
  expect(payload).toEqual(JSON.parse(BODY));
});

it('verifyWebhook: accepts any one of several signatures', async () => {
  const headers = headersFor(SECRET);
  headers['webhook-signature'] =
    `v2,AAAA ${headersFor(OTHER)['webhook-signature']} ${headers['webhook-signature']}`;
  expect(await verifyWebhook({ secret: SECRET, headers, body: BODY })).toMatchObject({
    type: 'order.filled',
  });
});

it.each([
  ['another secret', { headers: headersFor(OTHER) }],
  ['another body', { body: `${BODY} ` }],
  ['an old try', { headers: headersFor(SECRET, new Date(Date.now() - 301_000)) }],
  ['a try of the future', { headers: headersFor(SECRET, new Date(Date.now() + 302_000)) }],
  ['no headers', { headers: {} }],
  ['a timestamp that is no number', { headers: { ...headersFor(SECRET), 'webhook-timestamp': 'now' } }],
  ['a signature that is no base64', { headers: { ...headersFor(SECRET), 'webhook-signature': 'v1,€' } }],
])('verifyWebhook: refuses %s', async (_, change) => {
  const received = { secret: SECRET, headers: headersFor(SECRET), body: BODY, ...change };
  await expect(verifyWebhook(received)).rejects.toThrow(WebhookVerificationError);
});
