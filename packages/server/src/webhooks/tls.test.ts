/** Webhooks to receivers with TLS (D193), sent by the server as its own process: it reads the authorities it trusts when it starts. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { TestAuthority } from '../testing/certificates.js';
import { inDirectory, ServerProcess } from '../testing/server-process.js';
import { WebhookReceiver } from '../testing/webhook-receiver.js';
import { signToken } from '../testing/test-app.js';

const JWT_SECRET = 'a secret for tests, of more than 32 bytes';

interface Delivery {
  readonly status: string;
  readonly attempts: readonly { readonly statusCode?: number; readonly error?: string }[];
}

it('testWebhook: delivers to a certificate of a trusted authority, and refuses others with the reason', async () => {
  const trusted = new TestAuthority('trusted by the server');
  const unknown = new TestAuthority('unknown to the server');
  const receivers = {
    good: await WebhookReceiver.open('localhost', trusted.issue('localhost')),
    untrusted: await WebhookReceiver.open('localhost', unknown.issue('localhost')),
    expired: await WebhookReceiver.open('localhost', trusted.issue('localhost', -1)),
    otherName: await WebhookReceiver.open('localhost', trusted.issue('elsewhere.example')),
  };
  try {
    await inDirectory(async (directory) => {
      const authorities = join(directory, 'authorities.pem');
      writeFileSync(authorities, trusted.cert);
      const server = ServerProcess.launch({
        DATA_DIR: join(directory, 'data'),
        JWT_SECRET,
        WEBHOOK_ALLOW_PRIVATE: 'on',
        NODE_EXTRA_CA_CERTS: authorities,
      });
      const url = await server.listening;
      const iat = Math.floor(Date.now() / 1000);
      const token = signToken({
        sub: 'demo',
        tier: 'PRO',
        scope: 'trade read',
        iat,
        exp: iat + 3600,
        jti: 'tls',
        iss: 'sandpit',
        aud: 'sandpit',
      });
      const post = async (path: string, body?: object): Promise<Record<string, string>> => {
        const reply = await fetch(url + path, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${token}`,
            ...(body !== undefined && { 'content-type': 'application/json' }),
          },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        });
        const text = await reply.text();
        expect(reply.ok, text).toBe(true);
        return JSON.parse(text) as Record<string, string>;
      };
      const deliver = async (to: WebhookReceiver): Promise<Delivery> => {
        const { webhookId } = await post('/v1/webhooks', { url: to.url });
        return (await post(`/v1/webhooks/${webhookId}/test`)) as unknown as Delivery;
      };
      try {
        expect(await deliver(receivers.good)).toMatchObject({
          status: 'DELIVERED',
          attempts: [{ statusCode: 204 }],
        });
        expect(receivers.good.events).toHaveLength(1);
        expect(await deliver(receivers.untrusted)).toMatchObject({
          status: 'FAILED',
          attempts: [
            {
              error:
                'The certificate of the receiver is not trusted: an authority of your own is named in NODE_EXTRA_CA_CERTS (UNABLE_TO_VERIFY_LEAF_SIGNATURE)',
            },
          ],
        });
        expect(await deliver(receivers.expired)).toMatchObject({
          attempts: [{ error: 'The certificate of the receiver has expired (CERT_HAS_EXPIRED)' }],
        });
        expect(await deliver(receivers.otherName)).toMatchObject({
          attempts: [
            { error: 'The certificate of the receiver is for another name (ERR_TLS_CERT_ALTNAME_INVALID)' },
          ],
        });
        for (const refused of [receivers.untrusted, receivers.expired, receivers.otherName])
          expect(refused.events).toEqual([]);
      } finally {
        await server.end('SIGTERM');
      }
    });
  } finally {
    for (const receiver of Object.values(receivers)) await receiver.close();
  }
}, 30_000);
