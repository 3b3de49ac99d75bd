import { afterEach, describe, expect, it } from 'vitest';
import { START } from './fixtures.contract.js';
import type { StoreUnderTest } from './fixtures.contract.js';
import { AlreadyExists, NotInRegistry, settingsOf } from './registry.js';
import type { ApiKey, Tenant } from './registry.js';
import type { Store } from './store.js';

/** Behavior of every registry. */
export function registryContract(name: string, underTest: StoreUnderTest): void {
  describe(`${name} as a registry`, () => {
    const opened: Store[] = [];
    const open = async (): Promise<Store> => {
      const store = await underTest.open();
      opened.push(store);
      return store;
    };
    afterEach(async () => {
      for (const store of opened.splice(0)) await store.close();
    });

    const demo: Tenant = { id: 't-1', name: 'demo', tier: 'PRO', scope: 'trade read', createdAt: START };
    const key: ApiKey = { hash: 'ab12', tenantId: 't-1', tier: 'PRO', scope: 'read', createdAt: START };

    it('keeps tenants, with unique names', async () => {
      const { registry } = await open();
      await registry.createTenant(demo);
      await registry.createTenant({ ...demo, id: 't-2', name: 'other', createdAt: START + 1 });
      await expect(registry.createTenant({ ...demo, name: 'third' })).rejects.toThrow(AlreadyExists);
      await expect(registry.createTenant({ ...demo, id: 't-3' })).rejects.toThrow(AlreadyExists);
      expect(registry.tenant('t-1')).toEqual(demo);
      expect(registry.tenantByName('other')?.id).toBe('t-2');
      expect(registry.tenant('t-3')).toBeUndefined();
      expect(registry.tenants().map(({ id }) => id)).toEqual(['t-1', 't-2']);
    });

    it('gives a name to only one of two simultaneous tenants', async () => {
      const { registry } = await open();
      const results = await Promise.allSettled([
        registry.createTenant(demo),
        registry.createTenant({ ...demo, id: 't-2' }),
      ]);
      expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    });

    it('changes a tenant, but not its time of creation', async () => {
      const { registry } = await open();
      await registry.createTenant(demo);
      await registry.createTenant({ ...demo, id: 't-2', name: 'other' });
      await registry.updateTenant({ ...demo, tier: 'BASIC', createdAt: 0 });
      expect(registry.tenant('t-1')).toEqual({ ...demo, tier: 'BASIC' });
      await expect(registry.updateTenant({ ...demo, name: 'other' })).rejects.toThrow(AlreadyExists);
      await expect(registry.updateTenant({ ...demo, id: 't-9' })).rejects.toThrow(NotInRegistry);
    });

    it('keeps API keys by their hashes, and their revocation', async () => {
      const { registry } = await open();
      await expect(registry.createApiKey(key)).rejects.toThrow(NotInRegistry);
      await registry.createTenant(demo);
      await registry.createApiKey(key);
      await expect(registry.createApiKey(key)).rejects.toThrow(AlreadyExists);
      await registry.createApiKey({ ...key, hash: 'cd34', createdAt: START + 1 });
      expect(registry.apiKey('ab12')).toEqual(key);
      expect(registry.apiKey('ffff')).toBeUndefined();
      expect(registry.apiKeys('t-1').map(({ hash }) => hash)).toEqual(['ab12', 'cd34']);
      await registry.revokeApiKey('ab12', START + 5);
      await registry.revokeApiKey('ab12', START + 9);
      expect(registry.apiKey('ab12')).toEqual({ ...key, revokedAt: START + 5 });
      await expect(registry.revokeApiKey('ffff', START)).rejects.toThrow(NotInRegistry);
    });

    it('keeps simulations, of tenants and shared', async () => {
      const { registry } = await open();
      const main = { id: 'main', tenantId: null, config: '{"seed":1}', createdAt: START };
      const mine = { id: 's-1', tenantId: 't-1', config: '{}', createdAt: START };
      await registry.createSimulation(main);
      await registry.createSimulation(mine);
      await registry.createSimulation({ ...mine, id: 's-2', tenantId: 't-2' });
      await expect(registry.createSimulation(mine)).rejects.toThrow(AlreadyExists);
      expect(registry.simulation('main')).toEqual(main);
      expect(registry.simulations().map(({ id }) => id)).toEqual(['main', 's-1', 's-2']);
      expect(registry.simulations(null).map(({ id }) => id)).toEqual(['main']);
      expect(registry.simulations('t-1')).toEqual([mine]);
    });

    it('does not list deleted simulations or reuse their ids', async () => {
      const { registry } = await open();
      const mine = { id: 's-1', tenantId: 't-1', config: '{}', createdAt: START };
      await registry.createSimulation(mine);
      await registry.deleteSimulation('s-1', START + 5);
      await registry.deleteSimulation('s-1', START + 9);
      await registry.deleteSimulation('never-there', START);
      expect(registry.simulations()).toEqual([]);
      expect(registry.simulations('t-1')).toEqual([]);
      expect(registry.simulation('s-1')).toEqual({ ...mine, deletedAt: START + 5 });
      await expect(registry.createSimulation(mine)).rejects.toThrow(AlreadyExists);
    });

    it('keeps settings', async () => {
      const { registry } = await open();
      expect(registry.setting('seed')).toBeUndefined();
      await registry.saveSetting('seed', '42');
      await registry.saveSetting('seed', '43');
      expect(registry.setting('seed')).toBe('43');
      await registry.saveSetting('pair:b', '2');
      await registry.saveSetting('pair:a', '1');
      expect(registry.settings('pair:')).toEqual([
        ['pair:a', '1'],
        ['pair:b', '2'],
      ]);
    });

    it('lists settings by the beginning of their names, also after one was deleted', async () => {
      const { registry } = await open();
      for (const name of ['a/c/2', 'a/c/1', 'a/d', 'a', 'ab/c', 'a/cd'])
        await registry.saveSetting(name, name);
      const named = (prefix: string): readonly string[] => registry.settings(prefix).map(([name]) => name);
      expect(named('a/c')).toEqual(['a/c/1', 'a/c/2', 'a/cd']);
      expect(named('a/')).toEqual(['a/c/1', 'a/c/2', 'a/cd', 'a/d']);
      await registry.deleteSetting('a/c/1');
      expect(named('a/c/')).toEqual(['a/c/2']);
      expect(named('a')).toEqual(['a', 'a/c/2', 'a/cd', 'a/d', 'ab/c']);
    });

    it('deletes the settings of a simulation with it, and no others', async () => {
      const { registry } = await open();
      for (const id of ['s-1', 's-10'])
        await registry.createSimulation({ id, tenantId: 't-1', config: '{}', createdAt: START });
      const kept = [`${settingsOf('s-10')}b`, 'simulation', 's-1'];
      for (const name of [`${settingsOf('s-1')}a`, `${settingsOf('s-1')}b`, ...kept])
        await registry.saveSetting(name, name);
      await registry.deleteSimulation('s-1', START);
      expect(registry.settings('').map(([name]) => name)).toEqual(expect.arrayContaining(kept));
      expect(registry.settings(settingsOf('s-1'))).toEqual([]);
    });

    const { reopen } = underTest;
    if (reopen === undefined) return;

    it('has everything after it is opened again', async () => {
      let store = await open();
      await store.registry.createTenant(demo);
      await store.registry.createApiKey(key);
      await store.registry.createSimulation({ id: 's-1', tenantId: 't-1', config: '{}', createdAt: START });
      await store.registry.saveSetting('seed', '42');
      store = await reopen(store);
      opened.push(store);
      const { registry } = store;
      expect([registry.tenants(), registry.apiKeys('t-1'), registry.setting('seed')]).toEqual([
        [demo],
        [key],
        '42',
      ]);
      expect(registry.simulations('t-1').map(({ id }) => id)).toEqual(['s-1']);
      await registry.createSimulation({ id: 's-2', tenantId: 't-1', config: '{}', createdAt: START });
      expect(registry.simulations('t-1').map(({ id }) => id)).toEqual(['s-1', 's-2']);
    });
  });
}
