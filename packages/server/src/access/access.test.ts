import { beforeEach, describe, expect, it } from 'vitest';
import { openMemoryStore } from '../store/sqlite/memory-store.js';
import { StoreUnavailable } from '../store/journal.js';
import type { Store } from '../store/store.js';
import { Access, type Origin } from './access.js';

const HOUR = 3_600_000;
const ALICE = { tenantId: 'alice', tier: 'PRO', scope: 'read' } as const;

let store: Store;
let access: Access;
let nowMs: number;
let told: number;

/** Reads the registry again, as after a restart. */
const reopened = (): Access => new Access(store.registry, () => nowMs);

beforeEach(async () => {
  store = await openMemoryStore();
  nowMs = 1_700_000_000_000;
  access = reopened();
  told = 0;
  access.onRevocation(() => (told += 1));
});

const of = (origin: Partial<Origin>): Origin => ({
  keyId: undefined,
  tokenId: undefined,
  fromTokenIds: [],
  ...origin,
});

describe('An API key', () => {
  it('is returned once, stored as a hash, and valid until it is revoked', async () => {
    const { apiKey, hash, id } = await access.createKey(ALICE);
    expect(store.registry.tenant('alice')).toMatchObject({ name: 'alice', tier: 'PRO', scope: 'read' });
    expect(access.keyFor(apiKey)).toEqual({ id, ...ALICE });
    expect(JSON.stringify(store.registry.apiKeys('alice'))).not.toContain(apiKey);
    expect(hash.startsWith(id)).toBe(true);
    expect(access.isRevoked(of({ keyId: id }))).toBe(false);

    nowMs += HOUR;
    await access.revokeKey(id);
    expect(told).toBe(1);
    for (const one of [access, reopened()]) {
      expect(one.keyFor(apiKey)).toBeUndefined();
      expect(one.isRevoked(of({ keyId: id }))).toBe(true);
      expect(one.keys()).toEqual([{ id, ...ALICE, createdAt: nowMs - HOUR, revokedAt: nowMs }]);
    }
    await expect(access.revokeKey(id)).rejects.toThrow(`the key ${id} is revoked already`);
    await expect(access.revokeKey('0123456789abcdef')).rejects.toThrow('there is no key 0123456789abcdef');
  });

  it('can be revoked without an effect on other keys of its tenant', async () => {
    const first = await access.createKey(ALICE);
    const second = await access.createKey({ ...ALICE, tier: 'BASIC' });
    await access.createKey({ ...ALICE, tenantId: 'bob' });
    expect(access.keys('alice').map(({ id, tier }) => ({ id, tier }))).toEqual([
      { id: first.id, tier: 'PRO' },
      { id: second.id, tier: 'BASIC' },
    ]);
    expect(access.keys()).toHaveLength(3);
    await access.revokeKey(first.id);
    expect(access.keyFor(second.apiKey)).toBeDefined();
  });

  it('is refused if it is unknown', () => {
    expect(access.keyFor('sp_unknown')).toBeUndefined();
    expect(access.isRevoked(of({ keyId: '0123456789abcdef' }))).toBe(true);
  });
});

describe('Revocation of a token', () => {
  it('includes the tokens it requested, and is stored until the token expires', async () => {
    await access.revokeToken('a', nowMs + HOUR);
    for (const one of [access, reopened()]) {
      expect(one.isRevoked(of({ tokenId: 'a' }))).toBe(true);
      expect(one.isRevoked(of({ tokenId: 'b', fromTokenIds: ['a'] }))).toBe(true);
      expect(one.isRevoked(of({ tokenId: 'b' }))).toBe(false);
    }
    nowMs += HOUR;
    await access.revokeToken('b', nowMs + HOUR);
    expect(store.registry.setting('revoked-tokens')).toBe(JSON.stringify([['b', nowMs + HOUR]]));
  });

  it('is refused at 10,000 revoked tokens until some of them expire', async () => {
    const list = Array.from({ length: 10_000 }, (_, i) => [`t${i}`, nowMs + HOUR]);
    await store.registry.saveSetting('revoked-tokens', JSON.stringify(list));
    access = reopened();
    await expect(access.revokeToken('one more', nowMs + HOUR)).rejects.toThrow('10000 tokens are revoked');
    nowMs += HOUR;
    await access.revokeToken('one more', nowMs + HOUR);
    expect(reopened().isRevoked(of({ tokenId: 'one more' }))).toBe(true);
  });
});

it('revokeKey, revokeToken: apply a revocation that cannot be stored, and report the failure', async () => {
  const { id } = await access.createKey(ALICE);
  const failing = () => Promise.reject(new StoreUnavailable('disk full'));
  Object.assign(store.registry, { revokeApiKey: failing, saveSetting: failing });
  await expect(access.revokeKey(id)).rejects.toThrow('not on disk');
  expect(access.isRevoked(of({ keyId: id }))).toBe(true);
  await expect(access.revokeToken('a', nowMs + HOUR)).rejects.toThrow('not on disk');
  expect(access.isRevoked(of({ tokenId: 'a' }))).toBe(true);
});
