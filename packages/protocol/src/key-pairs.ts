/** Pairs of an id and a secret that open one portfolio to clients of a dialect. */
import type { Static } from 'typebox';
import { anyText, choice, closed, instant, listOf, optional, uuid } from './fields.js';

const fields = {
  keyId: anyText({ description: 'Id of the key pair; not a secret.', examples: ['PK5TS7RWK2D1B6HJ8MZQ'] }),
  portfolioId: uuid({ description: 'Portfolio that the key pair gives access to.' }),
  scope: anyText({
    description: 'Scopes: those of the requesting token, at most `trade` and `read`.',
  }),
  createdAt: instant(),
  expiresAt: optional(
    instant({
      description: 'Expiration of the requesting token, if no API key issued that token.',
    }),
  ),
};

export const KeyPair = closed('KeyPair', fields);
export type KeyPair = Static<typeof KeyPair>;

/** The answer of a create: the only one that shows the secret. */
export const CreatedKeyPair = closed('CreatedKeyPair', {
  ...fields,
  secretKey: anyText({ description: 'Shown once, and stored as a hash only.' }),
});
export type CreatedKeyPair = Static<typeof CreatedKeyPair>;

export const KeyPairs = listOf(KeyPair, { description: 'Valid key pairs, oldest first.' });
export type KeyPairs = Static<typeof KeyPairs>;

export const RevokedKeyPair = closed('RevokedKeyPair', { keyId: anyText(), status: choice(['REVOKED']) });
export type RevokedKeyPair = Static<typeof RevokedKeyPair>;
