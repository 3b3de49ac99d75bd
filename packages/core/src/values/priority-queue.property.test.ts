import fc from 'fast-check';
import { expect, it } from 'vitest';
import { PriorityQueue } from './priority-queue.js';

interface Item {
  place: number;
  readonly key: number;
  readonly number: number;
}

const before = (a: Item, b: Item): boolean => (a.key === b.key ? a.number < b.number : a.key < b.key);

type Step =
  | { readonly do: 'add'; readonly key: number }
  | { readonly do: 'take' }
  | { readonly do: 'remove'; readonly nth: number };

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({ do: fc.constant('add' as const), key: fc.integer({ min: -5, max: 5 }) }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('take' as const) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('remove' as const), nth: fc.nat(50) }) },
  ),
  { maxLength: 200 },
);

it('behaves as a sorted array does, with elements leaving from anywhere', () => {
  fc.assert(
    fc.property(steps, (todo) => {
      const queue = new PriorityQueue<Item>(before);
      let model: Item[] = [];
      let made = 0;
      for (const step of todo) {
        if (step.do === 'add') {
          const item: Item = { place: -1, key: step.key, number: made++ };
          queue.add(item);
          model.push(item);
        } else if (step.do === 'take') {
          const first = queue.first();
          if (first !== undefined) queue.remove(first);
          model = model.slice(1);
        } else {
          const item = model[step.nth % Math.max(model.length, 1)];
          if (item !== undefined) {
            queue.remove(item);
            // Removed already: no effect.
            queue.remove(item);
            expect(item.place).toBe(-1);
            model = model.filter((other) => other !== item);
          }
        }
        model.sort((a, b) => (before(a, b) ? -1 : 1));
        expect(queue.first()).toBe(model[0]);
        expect([...queue.inOrder(7)]).toEqual(model.slice(0, 7));
      }
      const drained: Item[] = [];
      for (let first = queue.first(); first !== undefined; first = queue.first()) {
        drained.push(first);
        queue.remove(first);
      }
      expect(drained).toEqual(model);
    }),
  );
});

it('keeps the index of every element', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 60 }), (keys) => {
      const queue = new PriorityQueue<Item>(before);
      keys.forEach((key, number) => queue.add({ place: -1, key, number }));
      [...queue.values()].forEach((item, place) => expect(item.place).toBe(place));
    }),
  );
});
