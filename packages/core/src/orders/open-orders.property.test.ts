import fc from 'fast-check';
import { expect, it } from 'vitest';
import { OpenOrders } from './open-orders.js';
import type { Order } from './order.js';

it('open orders: contains every order that was added and not removed, at its index', () => {
  const steps = fc.array(fc.record({ adds: fc.boolean(), nth: fc.nat(100) }), { maxLength: 200 });
  fc.assert(
    fc.property(steps, (all) => {
      const open = new OpenOrders();
      const places = new Map<Order, number>();
      let number = 0;
      for (const { adds, nth } of all) {
        if (adds || places.size === 0) {
          const order = { terms: { number: ++number } } as Order;
          places.set(order, open.add(order));
        } else {
          const [order, place] = [...places][nth % places.size] ?? [];
          if (order === undefined || place === undefined) throw new Error('nobody to leave');
          const moved = open.removeAt(place);
          if (moved !== undefined) places.set(moved, place);
          places.delete(order);
        }
        expect(open.size).toBe(places.size);
        for (const [order, place] of places) expect(open.at(place)).toBe(order);
        expect(new Set(open)).toEqual(new Set(places.keys()));
        const numbers = open.oldestFirst().map(({ terms }) => terms.number);
        expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
      }
    }),
  );
});
