import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Ownership } from '../store/ownership.js';
import { openPostgresStore } from '../store/postgres/postgres-store.js';
import type { Store } from '../store/store.js';
import { gate } from '../testing/gate.js';
import { newDatabase } from '../testing/test-database.js';
import { TenantPlacement } from './tenant-placement.js';

const TENANT = 'tenant-1';

describe('The placement of tenants', () => {
  const stores: Store[] = [];
  let owner: Ownership;
  let other: Ownership;

  beforeEach(async () => {
    const url = await newDatabase();
    const open = async (node: string): Promise<Ownership> => {
      const store = await openPostgresStore({
        url,
        node,
        cluster: { url: `http://${node}`, version: '1', facts: {} },
      });
      stores.push(store);
      if (store.ownership === undefined) throw new Error('no cluster');
      return store.ownership;
    };
    [owner, other] = [await open('a'), await open('b')];
    await owner.declare([]);
    await owner.poll();
  });
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.close();
  });

  it('does not serve a tenant that was offered to it while it handed the tenant over', async () => {
    const [isLeaving, mayLeave] = [gate(), gate()];
    const entered: string[] = [];
    const placement = new TenantPlacement(owner, false);
    placement.open({
      enter: (tenantId) => Promise.resolve(void entered.push(tenantId)),
      dismiss: () => undefined,
      leave: () => {
        isLeaving.open();
        return mayLeave.passed;
      },
    });
    expect(await placement.serves(TENANT)).toBe(true);
    const handedOver = placement.handOverAll(() => undefined);
    await isLeaving.passed;
    const placementBefore = await owner.placementOf(TENANT);
    expect(placementBefore?.incarnation).toBe(owner.incarnation);
    await Promise.all([placement.enterOwned(), placement.receive([TENANT]), placement.takeFree()]);
    mayLeave.open();
    await handedOver;
    expect(entered).toEqual([TENANT]);
    expect([placement.servesNow(TENANT), placement.owns(TENANT)]).toEqual([false, false]);
    expect([...placement.served]).toEqual([]);
    expect([...(await other.acquire([TENANT]))]).toEqual([TENANT]);
  });

  it('serves a tenant again whose hand-over the database did not note', async () => {
    const placement = new TenantPlacement(owner, false);
    placement.open({
      enter: () => Promise.resolve(),
      dismiss: () => undefined,
      leave: () => Promise.resolve(),
    });
    expect(await placement.serves(TENANT)).toBe(true);
    // The node has forgotten the tenant; the database has not heard of it.
    await owner.release([TENANT], owner.incarnation);
    expect([placement.servesNow(TENANT), placement.owns(TENANT)]).toEqual([false, false]);
    expect(await placement.serves(TENANT)).toBe(true);
  });

  it('hands the tenants of a node that takes none over to a node that takes them', async () => {
    await other.declare([]);
    const placement = new TenantPlacement(owner, false);
    placement.open({
      enter: () => Promise.resolve(),
      dismiss: () => undefined,
      leave: () => Promise.resolve(),
    });
    await owner.poll();
    await owner.acquire([TENANT]);
    await placement.enterOwned();
    await owner.declare(["the clock of this machine is 60000 ms ahead of the database's"]);
    await owner.poll();
    const told: string[] = [];
    await placement.rebalance(({ nodeId }, tenantIds) => told.push(nodeId, ...tenantIds));
    expect(told).toEqual(['b', TENANT]);
    expect(placement.servesNow(TENANT)).toBe(false);
    expect(await other.givenTenants()).toEqual([TENANT]);
  });

  it('hands many tenants over together', async () => {
    await other.declare([]);
    await owner.poll();
    const placement = new TenantPlacement(owner, false);
    placement.open({
      enter: () => Promise.resolve(),
      dismiss: () => undefined,
      leave: () => Promise.resolve(),
    });
    const tenantIds = Array.from({ length: 100 }, (_, index) => `tenant-${100 + index}`);
    await owner.acquire(tenantIds);
    await placement.enterOwned();
    const told: (readonly string[])[] = [];
    await placement.handOverAll((_, given) => told.push(given));
    expect(told.flat().toSorted()).toEqual(tenantIds);
    expect(told.length).toBeLessThan(10);
    expect((await other.givenTenants()).toSorted()).toEqual(tenantIds);
  });

  it('enters the tenant of a request before those that no request waits for', async () => {
    const mayEnter = gate();
    const placement = new TenantPlacement(owner, false);
    placement.open({
      enter: (tenantId) => (tenantId === TENANT ? Promise.resolve() : mayEnter.passed),
      dismiss: () => undefined,
      leave: () => Promise.resolve(),
    });
    await owner.acquire([...Array.from({ length: 200 }, (_, index) => `other-${index}`), TENANT]);
    const entered = placement.enterOwned();
    expect(placement.servesNow(TENANT)).toBe(false);
    await placement.enterSoon(TENANT);
    expect([...placement.served]).toEqual([TENANT]);
    mayEnter.open();
    await entered;
    expect(placement.served.size).toBe(201);
  });

  it('enters other tenants although one cannot be entered', async () => {
    const placement = new TenantPlacement(owner, false);
    placement.open({
      enter: (tenantId) => (tenantId === TENANT ? Promise.reject(new Error('not now')) : Promise.resolve()),
      dismiss: () => undefined,
      leave: () => Promise.resolve(),
    });
    const others = Array.from({ length: 40 }, (_, index) => `other-${index}`);
    await owner.acquire([TENANT, ...others]);
    await placement.enterOwned();
    expect(placement.served.size).toBe(others.length);
  });
});
