import type { Static } from 'typebox';
import { closed, count, exactly, instant, text, anyText } from './fields.js';

/** Body of the token exchange (D2). */
export const TokenRequest = closed('TokenRequest', {
  apiKey: text({ description: 'An API key of the tenant.' }),
});
export type TokenRequest = Static<typeof TokenRequest>;

export const AccessToken = closed('AccessToken', {
  token: anyText({ description: 'A JWT, for `Authorization: Bearer`.' }),
  tokenId: anyText({ description: 'The `jti` of the token.' }),
  tokenType: exactly('Bearer'),
  expiresIn: count({ description: 'Seconds.' }),
  expiresAt: instant(),
  createdAt: instant(),
  updatedAt: instant(),
});
export type AccessToken = Static<typeof AccessToken>;

/** A ticket that opens one stream from a browser (D5, D145). */
export const StreamTicket = closed('StreamTicket', {
  ticket: anyText({ description: 'For `?ticket=` on a stream.' }),
  expiresIn: count({ description: 'Seconds.' }),
  expiresAt: instant(),
});
export type StreamTicket = Static<typeof StreamTicket>;
