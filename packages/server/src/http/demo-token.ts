import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ROUTE_NOT_FOUND } from './answer.js';
import type { KnownBrowsers } from './known-browsers.js';
import { reply as sendAnswer, send } from './reply.js';

/** Issues a token of the demo tenant for the API reference; undefined when the tenant has no key. */
export type IssueDemoToken = () => Promise<string | undefined>;

export const isLoopback = (host: string): boolean =>
  /^(127(\.\d{1,3}){3}|localhost|\[?::1\]?|::ffff:127(\.\d{1,3}){3})$/i.test(host);

/**
 * A request from this machine, to a name of this machine (no other domain that resolves to it), without headers of a proxy, and not from a
 * page of another site.
 */
function isOfThisMachine({ headers, socket }: FastifyRequest): boolean {
  const host = (headers.host ?? '').replace(/:\d+$/, '');
  const isForwarded = headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined;
  const site = headers['sec-fetch-site'];
  return (
    isLoopback(socket.remoteAddress ?? '') &&
    isLoopback(host) &&
    !isForwarded &&
    (site === undefined || site === 'same-origin')
  );
}

/** A proxy without its headers looks like this machine: only a setting or the browser that opened the login link grants access. */
export interface DemoTokenRules {
  readonly isOpen: boolean;
  readonly browsers: Pick<KnownBrowsers, 'knows'>;
}

export function registerDemoToken(
  app: FastifyInstance,
  issue: IssueDemoToken,
  { isOpen, browsers }: DemoTokenRules,
): void {
  app.get('/docs/demo-token', (request, reply) => {
    const isLetIn = isOpen || browsers.knows(request.headers.cookie);
    if (!isLetIn || !isOfThisMachine(request)) sendAnswer(request, reply, ROUTE_NOT_FOUND);
    else
      void issue().then((token) =>
        token === undefined
          ? sendAnswer(request, reply, ROUTE_NOT_FOUND)
          : send(request, reply, 200, JSON.stringify({ token })),
      );
  });
}

/** Script of the page: enters the demo token, unless the user entered a token of their own, and renews it. */
export const PAGE_SCRIPT = `
(async () => {
  const KEPT = 'sandpit-demo-token';
  const own = JSON.parse(localStorage.getItem('authorized') ?? '{}').bearer?.value;
  if (own !== undefined && own !== localStorage.getItem(KEPT)) return;
  const response = await fetch('/docs/demo-token');
  if (!response.ok) return;
  const { token } = await response.json();
  while (window.ui?.authActions === undefined) await new Promise((resolve) => setTimeout(resolve, 50));
  localStorage.setItem(KEPT, token);
  const schema = { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' };
  window.ui.authActions.authorizeWithPersistOption({ bearer: { name: 'bearer', schema, value: token } });
})();
`;
