/** The cookie by which the dashboard finds the token of a member again (D258). Requests to the API never use it. */
import type { FastifyRequest } from 'fastify';

const NAME = 'sandpit-session';
const IN_COOKIES = new RegExp(`(?:^|;\\s*)${NAME}=([A-Za-z0-9._-]+)(?:;|$)`);

const isSecure = ({ headers, protocol }: FastifyRequest): boolean =>
  protocol === 'https' || headers['x-forwarded-proto'] === 'https';

/** The origin under which the client reached this server; empty for a request without a host. */
export const originOf = (request: FastifyRequest): string => {
  const { host } = request.headers;
  return host === undefined ? '' : `${isSecure(request) ? 'https' : 'http'}://${host}`;
};

/** The `Set-Cookie` header that keeps a token. Only the dashboard's own paths receive it. */
export const cookieOf = (request: FastifyRequest, token: string, seconds: number): string =>
  `${NAME}=${token}; Path=/dashboard; Max-Age=${seconds}; HttpOnly; SameSite=Strict${isSecure(request) ? '; Secure' : ''}`;

/** The token in a `Cookie` header. */
export const tokenIn = (cookies: string | undefined): string | undefined =>
  IN_COOKIES.exec(cookies ?? '')?.[1];
